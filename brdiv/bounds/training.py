"""Train the responses to all groups in one stacked run: n-step actor-critic, as brdiv itself trains."""

import copy
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from tensordict import TensorDictBase
from torch import Tensor, nn

from brdiv.bounds.responses import Group, GroupDraw, PolicyStack, Table
from brdiv.games import TEAMMATE, Playable
from brdiv.nets import Critic, Population, SeparateCritics, values_where
from brdiv.rollouts import collect
from brdiv.training.finite import check_finite
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


class Learning:
    """P responses, their critics and one optimiser."""

    def __init__(self, responses: PolicyStack, critic: Critic, settings: Settings) -> None:
        self.responses, self.critic, self.settings = responses, critic, settings
        self.target_critic = copy.deepcopy(critic).requires_grad_(False)
        parameters = [*responses.parameters(), *critic.parameters()]
        self.optimiser = torch.optim.Adam(parameters, lr=settings.learning_rate, fused=True)

    def update(self, rollout: TensorDictBase, progress: float) -> None:
        """Take one step on one fresh rollout ``[B, T]``."""
        self.optimiser.zero_grad()
        # Every mean is over all P responses, which share no weight: times P, each learns as if it were alone.
        (self.responses.stack * self.loss(rollout, progress)).backward()
        for group in self.optimiser.param_groups:
            group["lr"] = linear(self.settings.learning_rate, 0.0, 0.5, progress)
        self.optimiser.step()
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


def choose(products: Products, population: Population) -> str:
    """Name the way to multiply that the user names, or the fastest with networks of a population's sizes."""
    if products.is_open():
        critic = Critic(population.n_types, population.observation_size, population.hidden)
        products.chosen = fastest(measure(population, critic, ROWS, STEPS))
    assert products.chosen is not None
    return products.chosen


def train_responses(
    population: Population,
    game: Playable,
    groups: Sequence[Group],
    settings: Settings,
    seed: int = 0,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> PolicyStack:
    """Train one response to each of P groups of teams; ``tell`` hears of updates done, and how many there will be."""
    draw = GroupDraw(groups, settings.rows)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        responses = PolicyStack.fresh(population, len(groups))
        critic = SeparateCritics(draw.n_types, population.observation_size, population.hidden)
        table = Table(PolicyStack.seat_of(population, TEAMMATE), responses)
    # Expecting nothing: a critic that begins below what is earned praises whatever is done first.
    last: nn.Parameter = critic.layers[-1].weight  # type: ignore[assignment]
    nn.init.zeros_(last)
    learning = Learning(responses, critic, settings)
    collector = collect(game, draw, table, settings.window, torch.device("cpu"), [seed])
    for number, rollout in zip(range(settings.updates), collector, strict=False):
        learning.update(rollout, number / settings.updates)
        tell(number + 1, settings.updates)
    collector.shutdown()
    check_finite(responses)
    return responses
