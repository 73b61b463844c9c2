"""Algorithm 1 as a LightningModule: the wiring between a rollout, the objective and the optimiser."""

import copy
import itertools
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch
from tensordict import TensorDictBase
from torch import Tensor

from brdiv.errors import LARGEST_NUMBER, UserError
from brdiv.nets import Critic, Population, SeparateCritics, values_where
from brdiv.objectives import Objective, Sizes
from brdiv.training.counted import CountedModule
from brdiv.training.data import RolloutData
from brdiv.training.description import told
from brdiv.training.finite import check_gradients, check_losses, largest_gradients
from brdiv.training.losses import actor_loss, critic_loss, entropy, log_softmax
from brdiv.training.products import ROWS, STEPS, Products, described, fastest, measure
from brdiv.training.ranks import mean_over_ranks
from brdiv.training.returns import is_bootstrapped, n_step_returns
from brdiv.training.room import check_room
from brdiv.training.schedules import linear
from brdiv.training.stream import StreamData


class TeammateGenerator(CountedModule):
    """Trains K teammates and their K best responses with one ID-conditioned critic.

    Args:
        observation_size: Length of what one seat sees. Set by the game.
        n_actions: Number of actions. Set by the game.
        objective: The method that generates teammates.
        n_types: Size of the population, K.
        hidden: Number of neurons in each hidden layer of an actor.
        critic_hidden: Number of neurons in each hidden layer of the critic; as in an actor if none are given.
        separate_critics: Whether every teammate has a critic network of its own. One for all, as in the paper, draws
            teams to the strategy that the first of them finds.
        policy_gain: Scale of the actors' last layer at the start. Near 0 all policies begin alike and near uniform;
            above 1 each begins with habits of its own.
        learning_rate: Learning rate of Adam.
        gamma: Discount factor of returns.
        tau: How far the target critic moves to the critic with each update.
        actor_weight: Weight of the actor loss.
        critic_weight: Weight of the critic loss.
        entropy_weight: Weight of the policies' entropy at the start.
        final_entropy_weight: Weight of the policies' entropy at the end; the same as at the start if none is given.
        entropy_hold: Share of the run after which the entropy weight begins to move, in a line, to its final value.
        products: Library that multiplies matrices on a CPU: blas, onednn, or both, blas to play and onednn to learn.
            `auto` measures which is fastest at full precision; to repeat a run bit for bit on another machine, name
            one.

    """

    def __init__(
        self,
        observation_size: int,
        n_actions: int,
        objective: Objective,
        n_types: int = 4,
        hidden: Sequence[int] = (128, 128),
        critic_hidden: Sequence[int] | None = None,
        separate_critics: bool = False,
        policy_gain: float = 0.01,
        learning_rate: float = 1e-4,
        gamma: float = 0.99,
        tau: float = 1e-3,
        actor_weight: float = 1.0,
        critic_weight: float = 1.0,
        entropy_weight: float = 0.01,
        final_entropy_weight: float | None = None,
        entropy_hold: float = 0.0,
        products: str = "auto",
    ) -> None:
        super().__init__()
        self.save_hyperparameters()
        check_ranges(learning_rate=learning_rate, gamma=gamma, tau=tau, entropy_hold=entropy_hold)
        for name, value in {
            "actor_weight": actor_weight,
            "critic_weight": critic_weight,
            "entropy_weight": entropy_weight,
            "final_entropy_weight": entropy_weight if final_entropy_weight is None else final_entropy_weight,
            "policy_gain": policy_gain,
        }.items():
            if not 0 <= value <= LARGEST_NUMBER:
                raise UserError(f"{name} is {value}: it must be a number from 0 to {LARGEST_NUMBER:g}")
        critic_hidden = critic_hidden or hidden
        actors = 2 * n_types * weights_of([observation_size, *hidden, n_actions])
        critics = n_types if separate_critics else 1
        critic = critics * weights_of([2 * (observation_size + n_types), *critic_hidden, 1])
        # Weights, gradients and two estimates of Adam; a critic's target learns nothing.
        check_room(4 * actors + 5 * critic, f"{n_types} types, hidden {list(hidden)} and {list(critic_hidden)}")
        self.population = Population(n_types, observation_size, n_actions, hidden, policy_gain)
        kind = SeparateCritics if separate_critics else Critic
        self.critic: Critic = kind(n_types, observation_size, critic_hidden)
        self.target_critic = copy.deepcopy(self.critic).requires_grad_(False)
        self.objective = objective
        self.objective.build(Sizes(n_types, observation_size, n_actions, critic_hidden))
        self.learning_rate = learning_rate
        self.gamma = gamma
        self.tau = tau
        self.actor_weight = actor_weight
        self.critic_weight = critic_weight
        last = entropy_weight if final_entropy_weight is None else final_entropy_weight
        self.entropy_weights = (entropy_weight, last, entropy_hold)
        self.products = Products(products)
        self.summed_entropy = torch.zeros(())  # of both seats' policies in the last window, for the logs

    def on_fit_start(self) -> None:
        """Choose how to multiply before anything is computed, the same on all ranks."""
        trainer = self.trainer
        if trainer.strategy.root_device.type != "cpu":
            return
        chosen = None
        if self.products.is_open():
            measured = measure(self.population, self.critic, *self.window_shape())
            chosen = trainer.strategy.broadcast(fastest(measured))
            if trainer.is_global_zero:
                print(f"brdiv: {described(measured, chosen)}", file=sys.stderr)
        self.products.start(chosen)

    def window_shape(self) -> tuple[int, int]:
        """Rows and steps of the windows to come; the paper's if they don't come from RolloutData."""
        data = self.trainer.datamodule  # type: ignore[attr-defined]
        return (data.pairing.rows, data.window) if isinstance(data, RolloutData) else (ROWS, STEPS)

    def playing(self) -> AbstractContextManager[None]:
        """Play with the products that are chosen for it."""
        return self.products.playing()

    def teardown(self, stage: str) -> None:
        """Leave torch as it was."""
        self.products.stop()

    def losses(self, rollout: TensorDictBase, entropy_weight: float) -> dict[str, Tensor]:
        """Weigh every loss of Algorithm 2 on a rollout ``[B, T]``, by name; their sum is minimised."""
        observation, ids, action = rollout["agents", "observation"], rollout["ids"], rollout["agents", "action"]
        value = self.critic(observation, ids)
        actor_return, critic_target = self.targets(rollout)
        advantage = self.objective.slope(ids) * (actor_return - value.detach())
        log_probs = log_softmax(self.population(observation, ids))
        log_prob = log_probs.gather(-1, action.unsqueeze(-1)).squeeze(-1)
        entropies = entropy(log_probs)
        self.summed_entropy = entropies.detach().sum(-1).mean()
        return {
            "actor": self.actor_weight * actor_loss(log_prob, advantage),
            "critic": self.critic_weight * critic_loss(value, critic_target),
            "entropy": -(self.objective.entropy_weight(entropy_weight, ids) * entropies).sum(-1).mean(),
            **self.objective.auxiliary(rollout, self.population),
        }

    @torch.no_grad()
    def targets(self, rollout: TensorDictBase) -> tuple[Tensor, Tensor]:
        """n-step returns ``[B, T]``: bootstrapped by the critic for actors, by the target critic for the critic."""
        after = rollout["next"]
        reward = after["reward"].squeeze(-1)
        bonus = self.objective.bonus(rollout)
        if bonus is not None:
            reward = reward + bonus
        terminated, truncated = after["terminated"].squeeze(-1), after["truncated"].squeeze(-1)
        observation, ids = after["agents", "observation"], rollout["ids"]
        with self.products.playing():  # because these products are small, too
            value = values_where(is_bootstrapped(truncated), (self.critic, self.target_critic), observation, ids)
        actor_return, critic_target = n_step_returns(reward, value, terminated, truncated, gamma=self.gamma)
        return actor_return, critic_target

    def training_step(self, rollout: TensorDictBase, batch_idx: int) -> Tensor:
        """One update on one fresh rollout."""
        progress = batch_idx / self.trainer.num_training_batches
        entropy_weight = linear(*self.entropy_weights, progress=progress)
        self.objective.observe(rollout, progress)
        losses = self.losses(rollout, entropy_weight)
        total = torch.stack(list(losses.values())).sum()
        if self.reads_at_once():
            check_losses(losses, total, self.env_steps)
        else:
            if self.logs_now():
                # Before this rank's own loss is noted: what was noted earlier went through the gradients of all ranks,
                # so all of them stop here, and none waits for another.
                self.late_guard.check(self.env_steps)
            self.late_guard.note(total)
        self.env_steps += rollout.numel() * self.trainer.world_size
        if self.logs_now():
            metrics = {f"loss/{name}": loss.detach() for name, loss in losses.items()}
            metrics |= {f"objective/{name}": value for name, value in self.objective.scalars().items()}
            self.report(mean_over_ranks({**metrics, "policy/entropy": self.summed_entropy / 2}))
        return total

    def optimizer_step(self, *args: Any, **kwargs: Any) -> None:
        """Step, then let the target critic follow, target <- (1 - tau) target + tau critic, and the objective adapt.

        Here, and not when the batch ends, because checkpoints are written before the module is told of that.
        """
        super().optimizer_step(*args, **kwargs)
        with torch.no_grad():
            torch._foreach_lerp_(list(self.target_critic.parameters()), list(self.critic.parameters()), self.tau)
        self.objective.after_update()

    def on_before_optimizer_step(self, optimizer: torch.optim.Optimizer) -> None:
        """Look at the gradients before they are clipped, which would hide infinite ones."""
        if self.reads_at_once():
            check_gradients(optimizer, self, self.env_steps)
        else:
            self.late_guard.note(largest_gradients(optimizer))

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam on everything that learns; the objective's own parameters with its own settings."""
        groups = [{"params": [*self.population.parameters(), *self.critic.parameters()]}]
        groups += [group for group in self.objective.parameter_groups() if group["params"]]
        return torch.optim.Adam(groups, lr=self.learning_rate, fused=not self.is_mixed())

    def made_with(self, data: StreamData) -> dict[str, Any]:
        """What must be the same when a run is resumed: the game, the method, and how rows are split."""
        assert isinstance(data, RolloutData)
        rows = f"{data.pairing.self_play_rows} of self-play and {data.pairing.cross_play_rows} of cross-play"
        if data.pairing.mixed_play_rows:
            rows = f"{rows} and {data.pairing.mixed_play_rows} of mixed play"
        return {"game": told(data.game), "method": type(self.objective).__name__, "rows": rows}

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Keep how matrices are multiplied, too."""
        super().on_save_checkpoint(checkpoint)
        checkpoint["products"] = self.products.chosen

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Multiply as before the checkpoint."""
        super().on_load_checkpoint(checkpoint)
        self.products.resume(checkpoint.get("products"))  # which checkpoints of earlier versions don't say


def weights_of(sizes: Sequence[int]) -> int:
    """Count the weights between layers of these sizes."""
    return sum(before * after for before, after in itertools.pairwise(sizes))


def check_ranges(learning_rate: float, gamma: float, tau: float, entropy_hold: float) -> None:
    """Refuse settings outside what they can mean."""
    if not 0 < learning_rate < float("inf"):
        raise UserError(f"learning_rate is {learning_rate}: it must be a positive number")
    for name, value in {"gamma": gamma, "tau": tau, "entropy_hold": entropy_hold}.items():
        if not 0 <= value <= 1:
            raise UserError(f"{name} is {value}: it must lie between 0 and 1")
