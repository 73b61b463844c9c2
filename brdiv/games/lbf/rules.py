"""The rules of Level-Based Foraging."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from tensordict import TensorDict
from torch import Tensor

from brdiv.games.base import Game
from brdiv.games.lbf.cells import LOAD, MOVES, Cells
from brdiv.games.lbf.placements import free_place, legal_placements
from brdiv.games.limits import LARGEST_GRID, check_horizon, check_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from brdiv.games.policies import Policies
    from brdiv.games.scenes import Guide, Shape
    from brdiv.games.strategies import Strategies

HIGHEST_LEVEL = 1_000_000
GONE = -1  # row and column, as seen, of a food that was collected


class LBF(Game):
    """Level-Based Foraging (Section 6.1): collect every food, each of which takes both players.

    - State: ``cells [B, F + 2]`` (numbers of `Cells`) and ``levels [B, F + 2]`` of the remaining foods in row-major
      order, of those that are gone (level 0), of seat 0, of seat 1.
    - Start: foods uniform over all placements off the border with no two within each other's 3 x 3 neighbourhood or
      within distance 2 in a row or column; players uniform over the other cells; player levels uniform in 1..max_level.
      A food's level is the sum of the players'.
    - Actions: 0 stay, 1 north, 2 south, 3 west, 4 east, 5 load. A move off the grid or into a food stays; a cell that
      both claim goes to neither.
    - Reward: 1 / F for each food whose level the loading players beside it reach. All collected: done.
    - View ``[3 F + 6]``: (row, column, level) of the remaining foods in row-major order, then (-1, -1, 0) for each that
      is gone; own (row, column, level), the other's. Networks see the own place and everything else's distance
      in rows and columns one-hot, levels scaled to 1.

    Args:
        size: Rows and columns of the grid.
        foods: How many foods there are.
        max_level: Highest level of a player.
        horizon: Steps until time is up.

    """

    n_actions = len(MOVES)
    recordable = True
    observation_bounds = (0.0, 1.0)
    placements: Tensor
    seen: Tensor
    others: Tensor

    def __init__(self, size: int = 6, foods: int = 3, max_level: int = 2, horizon: int = 50) -> None:
        super().__init__()
        check_whole("size", size, 1, LARGEST_GRID)
        check_whole("foods", foods, 1, size**2)
        check_whole("max_level", max_level, 1, HIGHEST_LEVEL)
        check_horizon(horizon)
        self.size = size
        self.foods = foods
        self.max_level = max_level
        self.horizon = horizon
        self.register_buffer("placements", legal_placements(size, foods), persistent=False)
        self.cells = Cells(size)
        self.view_size = 3 * (foods + 2)
        self.observation_size = self.cells.place_size + (foods + 1) * self.cells.way_size + foods + 2
        everything = [*range(foods)]
        seen = [*everything, foods, foods + 1, *everything, foods + 1, foods]  # by seat 0, by seat 1
        self.register_buffer("seen", torch.tensor(seen), persistent=False)
        self.register_buffer("others", torch.tensor([*everything, foods + 1, *everything, foods]), persistent=False)

    def initial(self, rows: int, generator: torch.Generator) -> TensorDict:
        """Draw foods from the table of legal placements, then players from the cells that are left."""
        device = generator.device
        chosen = torch.randint(len(self.placements), (rows,), generator=generator, device=device)
        foods = taken = self.placements[chosen]
        players = []
        for _ in range(2):
            free = self.size**2 - taken.shape[1]
            place = free_place(torch.randint(free, (rows,), generator=generator, device=device), taken)
            players.append(place)
            taken = torch.cat([taken, place[:, None]], 1).sort(1).values
        levels = torch.randint(1, self.max_level + 1, (rows, 2), generator=generator, device=device)
        food_levels = levels.sum(1, keepdim=True).repeat(1, self.foods)
        places = torch.cat([foods, torch.stack(players, 1)], 1)
        cells = self.cells.number(places // self.size, places % self.size)
        return self.pack(cells, torch.cat([food_levels, levels], 1))

    def step(self, state: TensorDict, action: Tensor) -> tuple[TensorDict, Tensor, Tensor]:
        """Move, then load."""
        foods, players = state["cells"].split([self.foods, 2], 1)
        food_levels, levels = state["levels"].split([self.foods, 2], 1)
        players = self.move(players, foods, action)
        lifted = self.lift(players, levels, foods, food_levels, action)
        foods, food_levels = self.remove(lifted, foods, food_levels)
        after = self.pack(torch.cat([foods, players], 1), torch.cat([food_levels, levels], 1))
        return after, lifted.sum(1) / self.foods, foods[:, 0] == self.cells.gone

    def move(self, players: Tensor, foods: Tensor, action: Tensor) -> Tensor:
        """Walk ``action [B, 2]`` from ``players [B, 2]`` where ``foods [B, F]``, walls and the other allow."""
        target = self.cells.walk(players, action)
        on_food = (target[..., None] == foods[:, None]).any(-1)
        target = torch.where(on_food, players, target)
        clash = target[:, :1] == target[:, 1:]
        return torch.where(clash, players, target)

    def lift(self, players: Tensor, levels: Tensor, foods: Tensor, food_levels: Tensor, action: Tensor) -> Tensor:
        """Say which foods go, ``[B, F]``: those whose level the loading players beside them reach."""
        lifting = levels * (action == LOAD)
        beside = self.cells.beside(players[..., None], foods[:, None])  # [B, 2, F]
        strength = (beside * lifting[..., None]).sum(1)
        return (strength > 0) & (strength >= food_levels)

    def remove(self, lifted: Tensor, foods: Tensor, food_levels: Tensor) -> tuple[Tensor, Tensor]:
        """Take the ``lifted [B, F]`` foods off the grid; the rest stay in order, in front of what is gone."""
        foods, order = foods.masked_fill(lifted, self.cells.gone).sort(1)  # the highest number of all
        return foods, food_levels.masked_fill(lifted, 0).gather(1, order)

    def view(self, state: TensorDict) -> Tensor:
        """Remaining foods first, then both players, the own one before the other."""
        cells, levels = (state[key].index_select(1, self.seen) for key in ("cells", "levels"))
        row, column = self.cells.rows_and_columns(cells)
        gone = cells == self.cells.gone
        entries = torch.stack([row.masked_fill(gone, GONE), column.masked_fill(gone, GONE), levels], -1)
        return entries.view(-1, 2, self.view_size)

    def from_view(self, view: Tensor) -> TensorDict:
        """Read the first seat's view, which lists things as the state does."""
        return self.pack(*self.read(view[:, 0].long()))

    def read(self, view: Tensor) -> tuple[Tensor, Tensor]:
        """Cell and level, each ``[..., F + 2]``, of everything in ``view [..., view_size]``, in its order."""
        row, column, level = view.unflatten(-1, (self.foods + 2, 3)).unbind(-1)
        return self.cells.number(row, column).masked_fill(row == GONE, self.cells.gone), level

    def encode(self, view: Tensor) -> Tensor:
        """One-hot the own row and column, and how many rows and columns away everything else is."""
        cells, levels = self.read(view)
        foods, own, other = cells.split([self.foods, 1, 1], -1)
        return self.features(own, torch.cat([foods, other], -1), levels)

    def observe(self, state: TensorDict) -> Tensor:
        """Encode the view without making it, in half of the time."""
        cells, levels = state["cells"], state["levels"].index_select(1, self.seen)
        others = cells.index_select(1, self.others).view(-1, 2, self.foods + 1)
        return self.features(cells[:, self.foods :, None], others, levels.view(-1, 2, self.foods + 2))

    def features(self, own: Tensor, others: Tensor, levels: Tensor) -> Tensor:
        """What networks see of the own cell ``[..., 1]``, of ``others [..., F + 1]`` and of ``levels [..., F + 2]``."""
        here = self.cells.one_hot_place(own)
        away = self.cells.one_hot_way(own, others)
        return torch.cat([here.flatten(-2), away.flatten(-2), levels / (2.0 * self.max_level)], -1)

    def pack(self, cells: Tensor, levels: Tensor) -> TensorDict:
        """Put a state together."""
        return TensorDict({"cells": cells, "levels": levels}, [len(cells)])

    def action_names(self) -> list[str]:
        """Stay, a direction, or load."""
        return ["stay", "north", "south", "west", "east", "load"]

    def observation_names(self) -> list[str]:
        """The own place, the ways to everything else, and levels."""
        foods = [f"food {number + 1}" for number in range(self.foods)]
        places = [f"own {axis} is {number}" for axis in ("row", "column") for number in range(self.size)]
        ways = [
            f"{thing} is {number:+d} {axis}s away"
            for thing in (*foods, "other player")
            for axis in ("row", "column")
            for number in range(1 - self.size, self.size)
        ]
        levels = [f"level of {thing} / {2 * self.max_level}" for thing in (*foods, "own player", "other player")]
        return places + ways + levels

    def view_names(self) -> list[str]:
        """Row, column and level of everything; -1, -1, 0 for food that is gone."""
        things = [*(f"food {number + 1}" for number in range(self.foods)), "own player", "other player"]
        return [f"{what} of {thing}" for thing in things for what in ("row", "column", "level")]

    def heuristics(self) -> "Policies":
        """H1 to H10 (Appendix B.2)."""
        from brdiv.games.lbf.heuristics import LBFHeuristics

        return LBFHeuristics(self)

    def strategies(self) -> "Strategies | None":
        """The order in which foods are taken, where there are few enough to tell orders apart."""
        from brdiv.games.lbf.strategies import MOST_FOODS, Orders

        return Orders(self) if self.foods <= MOST_FOODS else None

    def draw(self, view: Sequence[int], axes: "Axes") -> None:
        """Foods and players with their levels."""
        from brdiv.games.lbf.drawing import draw

        draw(self, view, axes)

    def text(self, view: Sequence[int]) -> str:
        """Two characters per cell."""
        from brdiv.games.lbf.drawing import text

        return text(self, view)

    def guide(self) -> "Guide":
        """Explain the game to people."""
        from brdiv.games.lbf.scene import guide

        return guide(self)

    def scene(self, view: Sequence[int]) -> "list[Shape]":
        """Show the view in a browser."""
        from brdiv.games.lbf.scene import scene

        return scene(self, view)

    def news(self, before: Sequence[int], after: Sequence[int], action: Sequence[int], reward: float) -> str:
        """Say what was paid, and why."""
        from brdiv.games.lbf.scene import news

        return news(self, before, after, action, reward)
