"""Policies that any game can be played with: learned ones, random ones, and several kinds as one."""

from collections.abc import Sequence

import torch
from torch import Tensor

from brdiv.games import RESPONSE, TEAMMATE, Memory, Policies, SeatView
from brdiv.nets import Population, sample


class LearnedPolicies(Policies):
    """The K teammates of a population, or its K best responses."""

    needs_view = False

    def __init__(self, population: Population, seat: int = TEAMMATE, names: Sequence[str] | None = None) -> None:
        self.population = population
        self.seat = seat
        self.names = names or [f"pi^{'' if seat == TEAMMATE else '-'}{k + 1}" for k in range(population.n_types)]

    def move_to(self, device: torch.device) -> None:
        """Move the networks."""
        self.population.to(device)

    def act(self, which: Tensor, seen: SeatView, memory: Memory, generator: torch.Generator) -> Tensor:
        """Sample from the policy."""
        return sample(self.logits(which, seen), generator)

    def probabilities(self, which: Tensor, seen: SeatView, memory: Memory) -> Tensor:
        """What is sampled from."""
        return self.logits(which, seen).softmax(-1)

    def logits(self, which: Tensor, seen: SeatView) -> Tensor:
        """Ask the policies' networks, ``[R, A]``."""
        return self.population.logits(seen.observation, which + self.seat * self.population.n_types)


def both_seats(population: Population) -> tuple[LearnedPolicies, LearnedPolicies]:
    """Return a population's teammates, and its best responses."""
    return LearnedPolicies(population, TEAMMATE), LearnedPolicies(population, RESPONSE)


class RandomPolicies(Policies):
    """One policy that does anything at all."""

    names = ("random",)
    needs_view = False

    def __init__(self, n_actions: int) -> None:
        self.n_actions = n_actions

    def act(self, which: Tensor, seen: SeatView, memory: Memory, generator: torch.Generator) -> Tensor:
        """Draw uniformly."""
        return torch.randint(self.n_actions, which.shape, generator=generator, device=which.device)

    def probabilities(self, which: Tensor, seen: SeatView, memory: Memory) -> Tensor:
        """All the same."""
        return torch.full((len(which), self.n_actions), 1.0 / self.n_actions, device=which.device)


class NoisyPolicies(Policies):
    """Other policies, some of whose actions are replaced by random ones.

    Args:
        policies: The policies that play.
        share: Share of the actions to replace.
        n_actions: Number of actions there are.

    """

    def __init__(self, policies: Policies, share: float, n_actions: int) -> None:
        self.policies = policies
        self.share = share
        self.n_actions = n_actions
        self.needs_view = policies.needs_view
        self.names = [f"{name}, {share:.0%} random" for name in policies.names]

    def begin(self, which: Tensor, seen: SeatView, generator: torch.Generator) -> Memory:
        """Start as the policies do."""
        return self.policies.begin(which, seen, generator)

    def act(self, which: Tensor, seen: SeatView, memory: Memory, generator: torch.Generator) -> Tensor:
        """Choose as the policies do, and replace some of it."""
        action = self.policies.act(which, seen, memory, generator)
        anything = torch.randint(self.n_actions, which.shape, generator=generator, device=which.device)
        replaced = torch.rand(which.shape, generator=generator, device=which.device) < self.share
        return torch.where(replaced, anything, action)

    def watch(self, which: Tensor, other: SeatView, action: Tensor, memory: Memory) -> None:
        """Learn as the policies do."""
        self.policies.watch(which, other, action, memory)


class SeveralPolicies(Policies):
    """Policies of several kinds, one after the other, as one."""

    def __init__(self, parts: Sequence[Policies]) -> None:
        self.parts = list(parts)
        self.needs_view = any(part.needs_view for part in parts)
        self.names = [name for part in parts for name in part.names]

    def begin(self, which: Tensor, seen: SeatView, generator: torch.Generator) -> Memory:
        """Let every part begin in the rows it plays: each with the rows, which of its policies, and its own memory."""
        memory, first = [], 0
        for part in self.parts:
            rows = ((which >= first) & (which < first + len(part))).nonzero().squeeze(-1)
            if len(rows):
                own = which[rows] - first
                memory.append((part, rows, own, part.begin(own, seen.rows(rows), generator)))
            first += len(part)
        return memory

    def act(self, which: Tensor, seen: SeatView, memory: Memory, generator: torch.Generator) -> Tensor:
        """Let every part act in its rows."""
        action = torch.zeros_like(which)
        for part, rows, own, remembered in memory:
            action[rows] = part.act(own, seen.rows(rows), remembered, generator)
        return action

    def watch(self, which: Tensor, other: SeatView, action: Tensor, memory: Memory) -> None:
        """Let every part watch its rows."""
        for part, rows, own, remembered in memory:
            part.watch(own, other.rows(rows), action[rows], remembered)
