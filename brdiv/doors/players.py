"""Single policies to ask, with plain observations in and plain actions out, for notebooks and other people's loops."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from brdiv.errors import UserError
from brdiv.games import TEAMMATE, SeatView
from brdiv.nets import Population, sample
from brdiv.teamwork import Plastic

Observation = Any
"""Numbers ``[D]`` of one moment or ``[N, D]`` of several, as an array, a tensor or a list."""


def as_batch(observation: Observation, size: int) -> Tensor:
    """Make ``[N, D]`` floats of an observation, refusing one of another game."""
    batch = torch.as_tensor(np.asarray(observation), dtype=torch.float32)
    if batch.dim() not in {1, 2} or batch.shape[-1] != size:
        raise UserError(f"observation has shape {list(batch.shape)}: it must be [{size}] or [N, {size}]")
    return batch.reshape(-1, size)


def like(result: Tensor, observation: Observation) -> Any:
    """Give ``result [N, ...]`` as what was asked with: a tensor for a tensor, else an array, one for one."""
    alone = np.ndim(observation) == 1
    found = result[0] if alone else result
    if isinstance(observation, Tensor):
        return found
    return found.item() if alone and found.dim() == 0 else found.numpy()


class Player:
    """One policy of a population.

    Args:
        population: The population.
        seat: Whose policy it is: 0 for a teammate, 1 for a best response.
        number: Which one, counted from 1 as in tables and in FILE:3.
        seed: Seed of its actions.

    """

    def __init__(self, population: Population, seat: int, number: int, seed: int = 0) -> None:
        if not 1 <= number <= population.n_types:
            raise UserError(f"number is {number}: policies count from 1 to {population.n_types} here")
        self.population = population
        self.seat = seat
        self.number = number
        self.generator = torch.Generator().manual_seed(seed)

    def __repr__(self) -> str:
        role = "teammate" if self.seat == TEAMMATE else "best response"
        return f"<{role} {self.number} of {self.population.n_types}>"

    @torch.no_grad()
    def logits(self, observation: Observation) -> Any:
        """Logits ``[A]`` or ``[N, A]`` of its actions."""
        return like(self.forward(observation), observation)

    @torch.no_grad()
    def probabilities(self, observation: Observation) -> Any:
        """Probabilities ``[A]`` or ``[N, A]`` of its actions."""
        return like(self.forward(observation).softmax(-1), observation)

    @torch.no_grad()
    def act(self, observation: Observation, deterministic: bool = False) -> Any:
        """Choose an action, or ``[N]`` actions: drawn, or the likeliest."""
        logits = self.forward(observation)
        return like(logits.argmax(-1) if deterministic else sample(logits, self.generator), observation)

    def forward(self, observation: Observation) -> Tensor:
        """Logits ``[N, A]``."""
        batch = as_batch(observation, self.population.observation_size)
        policy = torch.full((len(batch),), self.number - 1 + self.seat * self.population.n_types)
        return self.population.logits(batch, policy)


class PlasticPlayer:
    """The learner prepared with a population, through one episode after the other, alone or N at once.

    Call `act` with what the learner sees, and `watch` with what the teammate saw and did; `begin` at a new episode.

    Args:
        population: The teammates it knows, and their best responses.
        seed: Seed of its actions.
        eta: How far one action can move the belief, from 0 to 1.

    """

    def __init__(self, population: Population, seed: int = 0, eta: float = 1.0) -> None:
        self.plastic = Plastic(population, eta)
        self.size = population.observation_size
        self.generator = torch.Generator().manual_seed(seed)
        self.memory: dict[str, Tensor] | None = None

    def begin(self) -> None:
        """Forget the teammate: a new episode begins."""
        self.memory = None

    @property
    def belief(self) -> np.ndarray | None:
        """How likely it thinks each teammate is, ``[N, K]``; None before it has acted."""
        return None if self.memory is None else self.memory["belief"].numpy()

    @torch.no_grad()
    def act(self, observation: Observation) -> Any:
        """Choose an action, or ``[N]`` actions, by the best response to the most likely teammate."""
        batch = as_batch(observation, self.size)
        which, seen = torch.zeros(len(batch), dtype=torch.long), SeatView(None, batch)
        if self.memory is None:
            self.memory = self.plastic.begin(which, seen, self.generator)
        if len(self.memory["belief"]) != len(batch):
            raise UserError(f"{len(batch)} observations, but {len(self.memory['belief'])} episodes: call begin first")
        return like(self.plastic.act(which, seen, self.memory, self.generator), observation)

    @torch.no_grad()
    def watch(self, observation: Observation, action: Any) -> None:
        """Learn that the teammate, seeing ``observation``, has done ``action``."""
        if self.memory is None:
            raise UserError("watch comes after act: the teammate acts when the learner does")
        batch = as_batch(observation, self.size)
        done = torch.as_tensor(np.asarray(action), dtype=torch.long).reshape(-1)
        self.plastic.watch(torch.zeros_like(done), SeatView(None, batch), done, self.memory)
