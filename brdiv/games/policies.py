"""Whoever sits in a seat: several policies at once, each row of a batch played by one of them."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

TEAMMATE, RESPONSE = 0, 1
"""The seats: the teammate's, and the one of its best response or of a learner."""

Memory = Any
"""What policies remember within an episode, of all rows together."""


class SeatView(NamedTuple):
    """What one seat sees of R rows."""

    view: Tensor | None  # [R, V] plain numbers, the own ones first; None in an external environment
    observation: Tensor  # [R, D] the same as networks see it

    def rows(self, rows: Tensor) -> "SeatView":
        """Take some of the rows."""
        return SeatView(None if self.view is None else self.view[rows], self.observation[rows])


class Policies(ABC):
    """Some policies for one seat, numbered from 0: a game's heuristics, a population's teammates, a learner.

    In every call ``which [R]`` says which policy plays each row, the same all through an episode. ``memory`` is
    whatever `begin` returned; the other calls may change what is in it. Any policies can play with any others.
    """

    names: Sequence[str]

    needs_view: bool = True
    """Whether they look at the plain numbers of a view; making those takes time."""

    def __len__(self) -> int:
        return len(self.names)

    def move_to(self, device: torch.device) -> None:
        """Move the tensors that are attributes; rules are written down on the CPU and moved as a whole."""
        for name, value in list(vars(self).items()):
            if isinstance(value, Tensor):
                setattr(self, name, value.to(device))

    def begin(self, which: Tensor, seen: SeatView, generator: torch.Generator) -> Memory:
        """Start an episode in every row, and return what to remember; nothing, unless a policy overrides this."""
        return None

    @abstractmethod
    def act(self, which: Tensor, seen: SeatView, memory: Memory, generator: torch.Generator) -> Tensor:
        """Choose ``action [R]``."""

    def watch(self, which: Tensor, other: SeatView, action: Tensor, memory: Memory) -> None:
        """Learn that the other seat, seeing ``other``, has done ``action [R]``. Most policies ignore it."""
        return

    def probabilities(self, which: Tensor, seen: SeatView, memory: Memory) -> Tensor | None:
        """How likely each action is, ``[R, A]``; None where a policy can't tell, but only be asked to act."""
        return None
