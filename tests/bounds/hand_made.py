"""A game of one move, and teams whose only move is known."""

from collections.abc import Sequence

import torch
from tensordict import TensorDict
from torch import Tensor
from torch.nn import functional

from brdiv.games import Game
from brdiv.nets import Population


class OneMove(Game):
    """Both choose at once; ``payoffs[teammate's][learner's]`` ends the game, unless it is nothing and time is left.

    State: ``last [B, 2]``, what each chose before, counted from 1; 0 at the start. So with one step nobody sees whom
    they play with, and with several a learner does.
    """

    view_size = 2

    def __init__(self, payoffs: list[list[float]], horizon: int = 1) -> None:
        super().__init__()
        self.payoffs, self.horizon = payoffs, horizon
        self.n_actions = len(payoffs)
        self.observation_size = 2 * (self.n_actions + 1)

    def initial(self, rows: int, generator: torch.Generator) -> TensorDict:
        return TensorDict({"last": torch.zeros(rows, 2, dtype=torch.long)}, [rows])

    def step(self, state: TensorDict, action: Tensor) -> tuple[TensorDict, Tensor, Tensor]:
        reward = torch.tensor(self.payoffs)[action[:, 0], action[:, 1]]
        return TensorDict({"last": action + 1}, state.batch_size), reward, reward > 0

    def view(self, state: TensorDict) -> Tensor:
        return torch.stack([state["last"], state["last"].flip(1)], 1)

    def from_view(self, view: Tensor) -> TensorDict:
        return TensorDict({"last": view[:, 0].long()}, view.shape[:1])

    def encode(self, view: Tensor) -> Tensor:
        return functional.one_hot(view, self.n_actions + 1).flatten(-2).float()


SAME = [[1.0, 0.0], [0.0, 1.0]]
"""Paid for choosing the same of two."""

BOTH_BUT_ONE = [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
"""Every move of a learner is right with two of the three of a teammate."""


def teams(game: Game, moves: Sequence[int], responses: Sequence[int]) -> Population:
    """Build teammates, and their best responses, each of which always makes one move."""
    population = Population(len(moves), game.observation_size, game.n_actions, [32])
    for layer in population.layers:
        layer.weight.data.zero_()
    chosen = torch.tensor([*moves, *responses])
    population.layers[-1].bias.data = 50.0 * functional.one_hot(chosen, game.n_actions)[:, None].float()
    return population.eval()
