"""The strategies of Cooperative Reaching: on which goal the two meet."""

import torch
from torch import Tensor

from brdiv.games.reaching.rules import Reaching
from brdiv.games.strategies import Strategies


class Goals(Strategies):
    """Tells the goal that an episode ended on."""

    def __init__(self, game: Reaching) -> None:
        self.game = game
        self.names = [f"meet on {x}, {y}" for x, y in game.goals]
        self.last: Tensor | None = None

    def watch(self, view: Tensor, running: Tensor) -> None:
        """Keep where everyone stood last."""
        self.last = view if self.last is None else torch.where(running[:, None, None], view, self.last)

    def found(self) -> Tensor:
        """Index of the goal that both stand on, else -1."""
        assert self.last is not None
        here, there = self.game.cells(self.last[:, 0].unflatten(-1, (2, 2))).unbind(-1)
        return torch.where(here == there, self.game.goal_index.take(here), -1)
