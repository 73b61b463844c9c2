"""Train the responses to all groups in one stacked run: n-step actor-critic, as brdiv itself trains."""

import copy
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import torch
from lightning import Callback, LightningModule, Trainer
from tensordict import TensorDictBase
from torch import Tensor, nn

from brdiv.bounds.responses import Group, GroupDraw, PolicyStack, Table
from brdiv.games import TEAMMATE, Playable
from brdiv.nets import Population, SeparateCritics, values_where
from brdiv.rollouts import RolloutCollector, collect
from brdiv.runs.population_file import checksum
from brdiv.training import CountedModule, StreamData
from brdiv.training.description import told
from brdiv.training.finite import check_finite, check_gradients, check_losses, largest_gradients
from brdiv.training.losses import actor_loss, critic_loss, entropy
from brdiv.training.products import ROWS, STEPS, Products, fastest, measure
from brdiv.training.returns import is_bootstrapped, n_step_returns
from brdiv.training.schedules import linear


class Settings(NamedTuple):
    """How responses are trained."""

    steps: int  # environment steps of each response
    rows: int = 16  # of each response
    window: int = 8
    learning_rate: float = 1e-3
    gamma: float = 0.99
    tau: float = 0.02
    entropy_weight: float = 1e-2
    final_entropy_weight: float = 1e-3

    @property
    def updates(self) -> int:
        """How often weights change."""
        return max(1, round(self.steps / (self.rows * self.window)))

    def for_groups_of(self, teams: int) -> "Settings":
        """As many updates, with rows enough for every team of a larger group to be met as often as one of a pair."""
        return self._replace(rows=self.rows * teams // 2, steps=self.steps * teams // 2)

    @property
    def trained_steps(self) -> int:
        """Environment steps of each response, in whole updates."""
        return self.updates * self.rows * self.window


class Task(NamedTuple):
    """Who is to be responded to, in what, and how that is learned."""

    population: Population
    game: Playable
    groups: Sequence[Group]
    settings: Settings
    seed: int = 0


class ResponsesData(StreamData):
    """Collects every batch with the responses of this moment, beside frozen teams."""

    def __init__(self, task: Task) -> None:
        self.task = task
        draw = GroupDraw(task.groups, task.settings.rows)
        steps = task.settings.trained_steps * len(task.groups)
        super().__init__(task.game, draw, task.settings.window, steps, task.seed)

    def collect(self, module: Any, device: torch.device, seed: Sequence[int]) -> RolloutCollector:
        """Start the environments, to be played by the responses of a module."""
        draw = GroupDraw(self.task.groups, self.task.settings.rows, device)
        table = Table(PolicyStack.seat_of(self.task.population, TEAMMATE).to(device), module.responses)
        return collect(self.game, draw, table, self.window, device, seed)


class ResponsesModule(CountedModule):
    """P responses, and a critic for each, which share no weight."""

    command = "bounds"

    def __init__(self, task: Task, products: str = "auto") -> None:
        super().__init__()
        self.task, self.settings = task, task.settings
        n_types = GroupDraw(task.groups, 1).n_types
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(task.seed)
            self.responses = PolicyStack.fresh(task.population, len(task.groups))
            self.critic = SeparateCritics(n_types, task.population.observation_size, task.population.hidden)
        # Expecting nothing: a critic that begins below what is earned praises whatever is done first.
        last: nn.Parameter = self.critic.layers[-1].weight  # type: ignore[assignment]
        nn.init.zeros_(last)
        self.target_critic = copy.deepcopy(self.critic).requires_grad_(False)
        self.products = Products(products)

    def on_fit_start(self) -> None:
        """Choose how to multiply before anything is computed."""
        if self.device.type != "cpu":
            return
        open_ = self.products.is_open()
        self.products.start(fastest(measure(self.task.population, self.critic, ROWS, STEPS)) if open_ else None)

    def playing(self) -> AbstractContextManager[None]:
        """Play with the products that are chosen for it."""
        return self.products.playing()

    def teardown(self, stage: str) -> None:
        """Leave torch as it was."""
        self.products.stop()

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam on everything that learns."""
        parameters = [*self.responses.parameters(), *self.critic.parameters()]
        return torch.optim.Adam(parameters, lr=self.settings.learning_rate, fused=True)

    def training_step(self, rollout: TensorDictBase, batch_idx: int) -> Tensor:
        """Learn from one fresh rollout ``[B, T]``."""
        progress = batch_idx / self.settings.updates
        optimizer: Any = self.optimizers()
        for group in optimizer.param_groups:
            group["lr"] = linear(self.settings.learning_rate, 0.0, 0.5, progress)
        # Every mean is over all P responses, which share no weight: times P, each learns as if it were alone.
        loss = self.responses.stack * self.loss(rollout, progress)
        if self.reads_at_once():
            check_losses({"responses": loss}, loss, self.env_steps)
        else:
            self.late_guard.note(loss)
        self.env_steps += rollout.numel()
        return loss

    def on_before_optimizer_step(self, optimizer: torch.optim.Optimizer) -> None:
        """Look at the gradients before they reach the weights."""
        if self.reads_at_once():
            check_gradients(optimizer, self, self.env_steps)
        else:
            self.late_guard.note(largest_gradients(optimizer))

    def optimizer_step(self, *args: Any, **kwargs: Any) -> None:
        """Step, then let the target critic follow."""
        super().optimizer_step(*args, **kwargs)
        with torch.no_grad():
            torch._foreach_lerp_(
                list(self.target_critic.parameters()), list(self.critic.parameters()), self.settings.tau
            )

    def loss(self, rollout: TensorDictBase, progress: float) -> Tensor:
        """Actor, critic and entropy loss of the responses' seat."""
        observation, ids, action = rollout["agents", "observation"], rollout["ids"], rollout["agents", "action"]
        value = self.critic(observation, ids.flip(-1))
        actor_return, critic_target = self.targets(rollout)
        logits = self.responses(observation[..., 1, :].flatten(0, 1), ids[..., 1].flatten())
        log_probs = logits.log_softmax(-1).view(*action.shape[:2], 1, -1)
        log_prob = log_probs.gather(-1, action[..., 1:, None]).squeeze(-1)
        weight = linear(self.settings.entropy_weight, self.settings.final_entropy_weight, 0.2, progress)
        return (
            actor_loss(log_prob, actor_return - value.detach())
            + critic_loss(value, critic_target)
            - weight * entropy(log_probs).mean()
        )

    @torch.no_grad()
    def targets(self, rollout: TensorDictBase) -> tuple[Tensor, Tensor]:
        """n-step returns ``[B, T]``: bootstrapped by the critic for actors, by the target critic for the critic."""
        after = rollout["next"]
        reward, terminated, truncated = (after[name].squeeze(-1) for name in ("reward", "terminated", "truncated"))
        critics = (self.critic, self.target_critic)
        observation, ids = after["agents", "observation"], rollout["ids"].flip(-1)
        value = values_where(is_bootstrapped(truncated), critics, observation, ids)
        actor_return, critic_target = n_step_returns(reward, value, terminated, truncated, gamma=self.settings.gamma)
        return actor_return, critic_target

    def made_with(self, data: StreamData) -> dict[str, Any]:
        """What must be the same when training is resumed."""
        groups = ", ".join(" ".join(str(team + 1) for team in group) for group in self.task.groups)
        settings = ", ".join(f"{name} {value}" for name, value in self.settings._asdict().items())
        weights = checksum(self.task.population.state_dict().items())
        seed = str(self.task.seed)
        return {"game": told(data.game), "population": weights, "teams": groups, "settings": settings, "seed": seed}

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Keep how matrices are multiplied, too."""
        super().on_save_checkpoint(checkpoint)
        checkpoint["products"] = self.products.chosen

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Multiply as before the checkpoint."""
        super().on_load_checkpoint(checkpoint)
        self.products.resume(checkpoint.get("products"))


class Teller(Callback):
    """Tells how many updates are done, and how many there will be."""

    def __init__(self, tell: Callable[[int, int], None]) -> None:
        self.tell = tell

    def on_train_batch_end(
        self, trainer: Trainer, module: LightningModule, outputs: object, batch: object, batch_idx: int
    ) -> None:
        """Tell it."""
        self.tell(batch_idx + 1, int(trainer.num_training_batches))


Fit = Callable[[ResponsesModule, ResponsesData, Teller], None]
"""Trains responses to the end of their budget."""


def fit_at_once(module: ResponsesModule, data: ResponsesData, teller: Teller) -> None:
    """Train without leaving anything on disk."""
    make_trainer([teller]).fit(module, datamodule=data)


def make_trainer(callbacks: Sequence[Callback], **settings: Any) -> Trainer:
    """Build a Trainer that says nothing, on an accelerator if there is one."""
    quiet: dict[str, Any] = dict.fromkeys(("logger", "enable_progress_bar", "enable_model_summary"), False)
    quiet["enable_checkpointing"] = "default_root_dir" in settings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Lightning's advice none applies here
        return Trainer(max_epochs=1, devices=1, callbacks=list(callbacks), **quiet, **settings)


def train_responses(
    task: Task,
    tell: Callable[[int, int], None] = lambda done, total: None,
    fit: Fit = fit_at_once,
    products: str = "auto",
) -> PolicyStack:
    """Train one response to each of P groups of teams; ``tell`` hears of updates done, and how many there will be."""
    with torch.random.fork_rng(devices=[]):  # Lightning draws from torch's own generator
        module, data = ResponsesModule(task, products), ResponsesData(task)
        fit(module, data, Teller(tell))
    responses = module.responses.cpu()
    check_finite(responses)
    return responses
