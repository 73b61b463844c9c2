"""The strategies of Level-Based Foraging: in which order the foods are taken."""

import itertools
import math

import torch
from torch import Tensor

from brdiv.games.lbf.rules import LBF
from brdiv.games.strategies import Strategies

MOST_FOODS = 5
"""With more foods there are more orders than anyone would tell apart."""


class Orders(Strategies):
    """Tells the order in which foods went, each by its number in the list that the players see: by rows, from the top.

    The second food of a list of three is 2 from the first step to the last, also when the first is gone.
    """

    def __init__(self, game: LBF) -> None:
        self.foods, self.size = game.foods, game.size
        orders = list(itertools.permutations(range(game.foods)))
        self.names = ["-".join(str(food + 1) for food in order) for order in orders]
        powers = game.foods ** torch.arange(game.foods)
        self.powers = powers.to(game.placements.device)
        number = torch.full((game.foods**game.foods,), -1)
        number[(torch.tensor(orders) * powers).sum(-1)] = torch.arange(math.factorial(game.foods))
        self.number = number.to(game.placements.device)
        self.start: Tensor | None = None
        self.steps = 0

    def watch(self, view: Tensor, running: Tensor) -> None:
        """Note which foods are missing, and since when."""
        row, column, level = view[:, 0].unflatten(-1, (self.foods + 2, 3))[:, : self.foods].unbind(-1)
        place = torch.where(level > 0, row * self.size + column, -1)
        if self.start is None:
            self.start = place
            self.gone_at = torch.zeros_like(place)  # [R, F] 0 where it is still there
        self.steps += 1
        there = (self.start[..., None] == place[:, None]).any(-1)
        newly = ~there & (self.gone_at == 0) & running[:, None]
        self.gone_at = self.gone_at.masked_fill(newly, self.steps)

    def found(self) -> Tensor:
        """Number of the order, -1 where food was left."""
        order = self.gone_at.argsort(dim=-1, stable=True)
        return self.number[(order * self.powers).sum(-1)].where((self.gone_at > 0).all(-1), -1)
