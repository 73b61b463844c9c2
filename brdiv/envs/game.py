"""What a two-player game is: constants and pure functions of batched tensors, nothing of any framework."""

import inspect
from abc import ABC, abstractmethod
from typing import Any, Protocol

import torch
from tensordict import TensorDict
from torch import Tensor, nn


class Actor(Protocol):
    """Anything that acts for both seats."""

    def act(self, observation: Tensor, ids: Tensor, generator: torch.Generator | None) -> Tensor:
        """Map ``observation [B, 2, D]`` and ``ids [B, 2]`` to ``action [B, 2]``."""
        ...


class Task(nn.Module, ABC):
    """Something for two seats with one team reward to do; seat 0 is the teammate's, seat 1 the learner's.

    Constructor arguments are kept as attributes of the same name, so that a population file can say what it was made
    for.
    """

    n_actions: int
    observation_size: int
    horizon: int

    def settings(self) -> dict[str, Any]:
        """Constructor arguments that build this task again."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def same_as(self, other: "Task") -> bool:
        """Whether two tasks are the same, settings included, so that policies of one can play the other."""
        return type(self) is type(other) and self.settings() == other.settings()


class Game(Task):
    """A task whose rules are ours.

    A game keeps no state: every method maps tensors with a leading batch of B rows to tensors with the same. Constants
    are buffers, so `to(device)` moves the game.
    """

    view_size: int

    @abstractmethod
    def initial(self, rows: int, generator: torch.Generator) -> TensorDict:
        """Draw start states, a TensorDict ``[rows]``, from the generator alone."""

    @abstractmethod
    def step(self, state: TensorDict, action: Tensor) -> tuple[TensorDict, Tensor, Tensor]:
        """Apply ``action [B, 2]``: next state ``[B]``, team reward ``[B]``, task done ``[B]`` (not: time up)."""

    @abstractmethod
    def view(self, state: TensorDict) -> Tensor:
        """Show the state as each seat sees it, itself first: integers ``[B, 2, view_size]``."""

    @abstractmethod
    def from_view(self, view: Tensor) -> TensorDict:
        """Rebuild the state ``[B]`` from ``view [B, 2, view_size]``: the inverse of `view`."""

    @abstractmethod
    def encode(self, view: Tensor) -> Tensor:
        """Turn ``view [..., view_size]`` into what networks learn well from, ``[..., observation_size]`` floats."""

    def observe(self, state: TensorDict) -> Tensor:
        """Give both seats' network input, ``[B, 2, observation_size]``."""
        return self.encode(self.view(state))

    def outcome(self, state: TensorDict) -> Tensor | None:
        """Say in which of several ways the task was done, ``[B]``, -1 where it was not; None if it isn't told."""
        return None
