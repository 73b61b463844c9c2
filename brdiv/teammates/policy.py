"""Whoever sits in a seat, learned or scripted: many policies at once, each row of a batch played by one of them."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from brdiv.nets import Population, sample

TEAMMATE, RESPONSE = 0, 1
"""The seats: the teammate's, and its best response's or learner's."""

Memory = Any
"""What policies remember within an episode, of all rows together."""


class Seen(NamedTuple):
    """What a seat sees of R rows."""

    view: Tensor | None  # [R, V] the logical view, itself first; other people's environments have none
    observation: Tensor  # [R, D] the same as networks see it


class Policies(ABC):
    """Some policies for one seat, numbered from 0.

    In every call ``which [R]`` says whose turn each row is, the same all through an episode. ``memory`` is whatever
    `begin` gave back; the other calls may change what is in it. Anything can play with anything through this.
    """

    names: Sequence[str]

    def __len__(self) -> int:
        return len(self.names)

    def begin(self, which: Tensor, seen: Seen, generator: torch.Generator) -> Memory:
        """Start an episode in every row: nothing to remember, unless a policy overrides this."""
        return None

    @abstractmethod
    def act(self, which: Tensor, seen: Seen, memory: Memory, generator: torch.Generator) -> Tensor:
        """Choose ``action [R]``."""

    def watch(self, which: Tensor, other: Seen, action: Tensor, memory: Memory) -> None:
        """Learn that the other seat, seeing ``other``, has done ``action [R]``; most policies don't care."""
        return


class LearnedPolicies(Policies):
    """The K teammates of a population, or its K best responses."""

    def __init__(self, population: Population, seat: int = TEAMMATE, names: Sequence[str] | None = None) -> None:
        self.population = population
        self.seat = seat
        self.names = names or [f"pi^{'' if seat == TEAMMATE else '-'}{k + 1}" for k in range(population.n_types)]

    def act(self, which: Tensor, seen: Seen, memory: Memory, generator: torch.Generator) -> Tensor:
        """Sample from the policy."""
        return sample(self.population.logits(seen.observation, which + self.seat * self.population.n_types), generator)


class Heuristics(Policies):
    """The scripted teammates of a game, named H1, H2, ... as in the paper."""


class SeveralPolicies(Policies):
    """Policies of several kinds, one after the other, as one."""

    def __init__(self, parts: Sequence[Policies]) -> None:
        self.parts = list(parts)
        self.names = [name for part in parts for name in part.names]

    def begin(self, which: Tensor, seen: Seen, generator: torch.Generator) -> Memory:
        """Let every part begin in the rows it plays: each with the rows, which of its policies, and its own memory."""
        memory, first = [], 0
        for part in self.parts:
            rows = ((which >= first) & (which < first + len(part))).nonzero().squeeze(-1)
            if len(rows):
                own = which[rows] - first
                memory.append((part, rows, own, part.begin(own, at(seen, rows), generator)))
            first += len(part)
        return memory

    def act(self, which: Tensor, seen: Seen, memory: Memory, generator: torch.Generator) -> Tensor:
        """Let every part act in its rows."""
        action = torch.zeros_like(which)
        for part, rows, own, remembered in memory:
            action[rows] = part.act(own, at(seen, rows), remembered, generator)
        return action

    def watch(self, which: Tensor, other: Seen, action: Tensor, memory: Memory) -> None:
        """Let every part watch its rows."""
        for part, rows, own, remembered in memory:
            part.watch(own, at(other, rows), action[rows], remembered)


def at(seen: Seen, rows: Tensor) -> Seen:
    """Take some rows."""
    return Seen(None if seen.view is None else seen.view[rows], seen.observation[rows])
