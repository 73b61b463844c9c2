"""Responses to groups of teammates: one memoryless policy each, their weights stacked, and who plays with whom."""

import itertools
import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from brdiv.games import Memory, Policies, SeatView
from brdiv.grouped import run_grouped
from brdiv.nets import Population, StackedLinear, sample
from brdiv.rollouts.pairings import IdDraw

Group = tuple[int, ...]
"""Teams, counted from 0, that one response is to serve."""


def pairs_of(teams: Sequence[int]) -> list[Group]:
    """List every pair of some teams.

    >>> pairs_of([0, 2, 3])
    [(0, 2), (0, 3), (2, 3)]
    """
    return list(itertools.combinations(teams, 2))


class GroupDraw(IdDraw):
    """Ids (teammate, response): every response has rows of its own, in each of which one of its teammates plays.

    Rows of one response stand together; the teammate is drawn anew for every episode, all with equal probability.
    """

    def __init__(self, groups: Sequence[Group], rows_each: int, device: torch.device | str = "cpu") -> None:
        self.n_types = 1 + max(len(groups) - 1, *map(max, groups))
        self.rows = len(groups) * rows_each
        self.response = torch.arange(len(groups), device=device).repeat_interleave(rows_each)  # [rows]
        most = max(map(len, groups))
        members = torch.tensor([[*group, *[group[0]] * (most - len(group))] for group in groups], device=device)
        self.members = members[self.response]  # [rows, most]
        self.sizes = torch.tensor([len(group) for group in groups], device=device)[self.response]

    def draw(self, generator: torch.Generator, times: int = 1) -> Tensor:
        """Draw ``ids [times, rows, 2]``."""
        chance = torch.rand(times, self.rows, generator=generator, device=generator.device)
        place = (chance * self.sizes).long()[..., None]
        teammate = self.members.expand(times, -1, -1).gather(-1, place).squeeze(-1)
        return torch.stack([teammate, self.response.expand(times, -1)], -1)


class PolicyStack(nn.Module):
    """P separate policies of one seat, MLPs with ReLU as those of a `Population`, as one stack of weights."""

    def __init__(self, layers: nn.ModuleList, stack: int) -> None:
        super().__init__()
        self.layers = layers
        self.stack = stack

    @classmethod
    def fresh(cls, population: Population, stack: int) -> "PolicyStack":
        """Build untrained policies of the sizes that a population's have."""
        sizes = itertools.pairwise([population.observation_size, *population.hidden, population.n_actions])
        gains = [math.sqrt(2)] * len(population.hidden) + [0.01]  # as a population begins
        layers = [StackedLinear(stack, n_in, n_out, gain) for (n_in, n_out), gain in zip(sizes, gains, strict=True)]
        return cls(nn.ModuleList(layers), stack)

    @classmethod
    def seat_of(cls, population: Population, seat: int) -> "PolicyStack":
        """Copy the K policies of one seat, frozen."""
        own = slice(seat * population.n_types, (seat + 1) * population.n_types)
        copied = cls.fresh(population, population.n_types).requires_grad_(False)
        for layer, source in zip(copied.layers, population.layers, strict=True):
            layer.load_state_dict({name: value[own] for name, value in source.state_dict().items()})
        return copied

    def forward(self, observation: Tensor, which: Tensor) -> Tensor:
        """Logits ``[N, A]`` on ``observation [N, D]`` of the policies ``which [N]``."""
        return run_grouped(self.layers, observation, which, self.stack)


class Table:
    """Both seats of the rows in which responses learn: frozen teammates, and whoever learns to respond."""

    def __init__(self, teammates: PolicyStack, responses: PolicyStack) -> None:
        self.teammates = teammates
        self.responses = responses

    def act(self, observation: Tensor, ids: Tensor, generator: torch.Generator | None) -> Tensor:
        """Sample ``action [B, 2]`` on ``observation [B, 2, D]``, ids ``[B, 2]`` being (teammate, response)."""
        seats = (self.teammates, self.responses)
        logits = [stack(observation[:, seat], ids[:, seat]) for seat, stack in enumerate(seats)]
        return sample(torch.stack(logits, 1), generator)


class StackedPolicies(Policies):
    """A stack of policies that plays complete episodes."""

    needs_view = False

    def __init__(self, stack: PolicyStack) -> None:
        self.policies = stack
        self.names = [f"response {number + 1}" for number in range(stack.stack)]

    def act(self, which: Tensor, seen: SeatView, memory: Memory, generator: torch.Generator) -> Tensor:
        """Sample from the policies."""
        return sample(self.policies(seen.observation, which), generator)
