"""Recurrent PPO as a LightningModule: the wiring between a window of play, the losses and the optimiser."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from tensordict import TensorDictBase
from torch import Tensor, nn

from brdiv.errors import UserError
from brdiv.games import RESPONSE
from brdiv.learners.data import LearnerData
from brdiv.learners.losses import advantages, clipped_loss, normalised, policy_entropy, value_loss
from brdiv.learners.methods import PPO, LearnerSizes
from brdiv.recurrent import RecurrentActorCritic, Seen
from brdiv.training.counted import CountedModule
from brdiv.training.description import told
from brdiv.training.finite import check_gradients, check_losses
from brdiv.training.ranks import mean_over_ranks
from brdiv.training.room import check_room
from brdiv.training.schedules import linear
from brdiv.training.stream import StreamData

MOST_EPOCHS = 1000  # over a window; more would be learning one by heart


class LearnerModule(CountedModule):
    """Trains a learner to play with whoever its teammate is.

    Args:
        observation_size: Length of what one seat sees. Set by the game.
        n_actions: Number of actions. Set by the game.
        method: The method that trains it.
        hidden: Number of neurons in each layer before the memory.
        memory: Number of neurons that remember.
        learning_rate: Learning rate of Adam at the start.
        final_learning_rate: Learning rate at the end, reached in a line.
        gamma: Discount factor of returns.
        gae_lambda: How far advantages look ahead by rewards before they rely on values.
        clip: By how much the probability of an action may change before more is not rewarded.
        epochs: How often each window is learned from.
        minibatches: Number of parts, each with some of the rows, that a window is learned from in.
        value_weight: Weight of the value's loss.
        entropy_weight: Weight of the policy's entropy at the start.
        final_entropy_weight: Weight of the policy's entropy at the end, reached in a line.
        clip_norm: Largest norm of the gradients of all weights together.

    """

    command = "learn"

    def __init__(
        self,
        observation_size: int,
        n_actions: int,
        method: PPO,
        hidden: Sequence[int] = (64,),
        memory: int = 64,
        learning_rate: float = 1e-3,
        final_learning_rate: float = 1e-4,
        gamma: float = 0.99,
        gae_lambda: float = 0.95,
        clip: float = 0.2,
        epochs: int = 2,
        minibatches: int = 4,
        value_weight: float = 0.5,
        entropy_weight: float = 0.01,
        final_entropy_weight: float = 0.001,
        clip_norm: float = 0.5,
    ) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.automatic_optimization = False  # a window is learned from in several steps
        check_settings(
            positive={"learning_rate": learning_rate, "clip": clip, "clip_norm": clip_norm},
            weights={
                "final_learning_rate": final_learning_rate,
                "value_weight": value_weight,
                "entropy_weight": entropy_weight,
                "final_entropy_weight": final_entropy_weight,
            },
            shares={"gamma": gamma, "gae_lambda": gae_lambda},
            counts={"epochs": epochs, "minibatches": minibatches, "memory": memory},
        )
        layers = [observation_size + 2 * n_actions, *hidden, memory]
        check_room(4 * max(layers) * max(*layers, 3 * memory), f"hidden {list(hidden)} and memory {memory}")
        self.net = RecurrentActorCritic(observation_size, n_actions, hidden, memory)
        self.method = method
        self.method.build(LearnerSizes(observation_size, n_actions, memory))
        self.learning_rates = (learning_rate, final_learning_rate)
        self.entropy_weights = (entropy_weight, final_entropy_weight)
        self.gamma = gamma
        self.gae_lambda = gae_lambda
        self.clip = clip
        self.epochs = epochs
        self.minibatches = minibatches
        self.value_weight = value_weight
        self.clip_norm = clip_norm

    @property
    def steps_per_window(self) -> int:
        """Steps of the optimiser that one window leads to."""
        return self.epochs * self.minibatches

    def training_step(self, rollout: TensorDictBase, batch_idx: int) -> None:
        """Learn from one fresh window ``[B, T]``."""
        progress = batch_idx / self.trainer.num_training_batches
        optimizer: Any = self.optimizers()
        for group in optimizer.param_groups:
            group["lr"] = linear(*self.learning_rates, hold=0.0, progress=progress)
        rollout = self.with_targets(rollout)
        losses: dict[str, Tensor] = {}
        for rows in self.parts(len(rollout), batch_idx):
            losses = self.learn(optimizer, rollout[rows], linear(*self.entropy_weights, hold=0.0, progress=progress))
        self.env_steps += rollout.numel() * self.trainer.world_size
        if self.logs_now():
            if not self.reads_at_once():
                self.late_guard.check(self.env_steps)
            self.report(mean_over_ranks({f"loss/{name}": loss.detach() for name, loss in losses.items()}))

    def with_targets(self, rollout: TensorDictBase) -> TensorDictBase:
        """Add advantages, and what values should have been, both ``[B, T]``."""
        after = rollout["next"]
        reward, done = after["reward"].squeeze(-1), after["done"].squeeze(-1)
        advantage = advantages(reward, rollout["value"], after["value"], done, self.gamma, self.gae_lambda)
        rollout = rollout.exclude("next")
        rollout["target"] = advantage + rollout["value"]
        rollout["advantage"] = normalised(advantage)
        return rollout

    def parts(self, rows: int, batch_idx: int) -> Iterator[Tensor]:
        """Rows of every minibatch of every epoch.

        Which rows are together follows from the number of the window alone, so that a run that resumes goes on alike.
        """
        generator = torch.Generator(self.device).manual_seed(batch_idx)
        for _ in range(self.epochs):
            order = torch.randperm(rows, generator=generator, device=self.device)
            yield from order.chunk(min(self.minibatches, rows))

    def learn(self, optimizer: Any, rollout: TensorDictBase, entropy_weight: float) -> dict[str, Tensor]:
        """Make one step of the optimiser."""
        losses = self.losses(rollout, entropy_weight)
        total = torch.stack(list(losses.values())).sum()
        if self.reads_at_once():
            check_losses(losses, total, self.env_steps)
        optimizer.zero_grad()
        self.manual_backward(total)
        norm = nn.utils.clip_grad_norm_(self.parameters(), self.clip_norm)
        if not self.reads_at_once():
            self.late_guard.note(norm)
        elif not norm.isfinite():
            check_gradients(optimizer.optimizer, self, self.env_steps)
        optimizer.step()
        return losses

    def losses(self, rollout: TensorDictBase, entropy_weight: float) -> dict[str, Tensor]:
        """Weigh every loss on some rows of a window ``[B, T]``, by name; their sum is minimised."""
        agents = rollout["agents"]
        seen = Seen(agents["observation"][..., RESPONSE, :], rollout["own"], rollout["other"])
        output = self.net(seen, rollout["start"], rollout["memory"][:, 0])
        log_probs = output.logits.float().log_softmax(-1)
        log_prob = log_probs.gather(-1, agents["action"][..., RESPONSE, None]).squeeze(-1)
        return {
            "policy": clipped_loss(log_prob, rollout["log_prob"], rollout["advantage"], self.clip),
            "value": self.value_weight * value_loss(output.value.float(), rollout["target"]),
            "entropy": -entropy_weight * policy_entropy(log_probs),
            **self.method.auxiliary(output, rollout),
        }

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam on everything that learns."""
        return torch.optim.Adam(self.parameters(), lr=self.learning_rates[0], eps=1e-5, fused=True)

    def made_with(self, data: StreamData) -> dict[str, Any]:
        """What must be the same when a run is resumed: the game, the method, and who the teammates are."""
        assert isinstance(data, LearnerData)
        return {"game": told(data.game), "method": type(self.method).__name__, "teammates": data.who()}


def check_settings(
    positive: dict[str, float], weights: dict[str, float], shares: dict[str, float], counts: dict[str, int]
) -> None:
    """Refuse settings outside what they can mean."""
    for name, value in positive.items():
        if not 0 < value < float("inf"):
            raise UserError(f"{name} is {value}: it must be a positive number")
    for name, value in weights.items():
        if not 0 <= value < float("inf"):
            raise UserError(f"{name} is {value}: it must be a number, and not a negative one")
    for name, value in shares.items():
        if not 0 <= value <= 1:
            raise UserError(f"{name} is {value}: it must lie between 0 and 1")
    for name, value in counts.items():
        if value < 1:
            raise UserError(f"{name} is {value}: it must be at least 1")
    if counts["epochs"] > MOST_EPOCHS:
        raise UserError(f"epochs is {counts['epochs']}: it must be at most {MOST_EPOCHS:,}")
