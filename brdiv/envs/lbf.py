"""Level-Based Foraging: two players who can lift a food only together."""

import itertools

import torch
from tensordict import TensorDict
from torch import Tensor
from torch.nn import functional

from brdiv.envs.game import Game

# stay, north, south, west, east, load as (row, column) steps
MOVES = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1), (0, 0))
LOAD = 5
GONE = -1  # row and column, as seen, of a food that was collected
MOST_PLACEMENTS = 500_000


class LBF(Game):
    """Level-Based Foraging (Section 6.1): collect every food, each of which takes both players.

    - State: ``cells [B, F + 2]`` and ``levels [B, F + 2]`` of the remaining foods in row-major order, of those that are
      gone (level 0), of seat 0, of seat 1. Cells are numbers, ``row * 2 * size + column``: the difference of two says
      how many rows and columns lie between, so rules about two places are tables.
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
    placements: Tensor
    seen: Tensor
    others: Tensor
    walks: Tensor
    here_rows: Tensor
    beside: Tensor
    away_rows: Tensor

    def __init__(self, size: int = 6, foods: int = 3, max_level: int = 2, horizon: int = 50) -> None:
        super().__init__()
        for name, value in {"foods": foods, "max_level": max_level, "horizon": horizon}.items():
            if value < 1:
                raise ValueError(f"{name} is {value}: it must be at least 1")
        self.size = size
        self.foods = foods
        self.max_level = max_level
        self.horizon = horizon
        self.view_size = 3 * (foods + 2)
        self.observation_size = 2 * size + (foods + 1) * 2 * (2 * size - 1) + foods + 2
        self.stride = 2 * size
        self.gone = 2 * size * self.stride  # the number of a food that was collected: further off than any cell
        self.register_buffer("placements", legal_placements(size, foods), persistent=False)
        everything = [*range(foods)]
        seen = [*everything, foods, foods + 1, *everything, foods + 1, foods]  # by seat 0, by seat 1
        self.register_buffer("seen", torch.tensor(seen), persistent=False)
        self.register_buffer("others", torch.tensor([*everything, foods + 1, *everything, foods]), persistent=False)
        walks, here_rows = by_cell(size)
        self.register_buffer("walks", walks, persistent=False)
        self.register_buffer("here_rows", here_rows, persistent=False)
        beside, away_rows = by_distance(size)
        self.register_buffer("beside", beside, persistent=False)
        self.register_buffer("away_rows", away_rows, persistent=False)

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
        return self.pack(self.cell(places // self.size, places % self.size), torch.cat([food_levels, levels], 1))

    def step(self, state: TensorDict, action: Tensor) -> tuple[TensorDict, Tensor, Tensor]:
        """Move, then load."""
        foods, players = state["cells"].split([self.foods, 2], 1)
        food_levels, levels = state["levels"].split([self.foods, 2], 1)
        players = self.move(players, foods, action)
        lifted = self.lifted(players, levels, foods, food_levels, action)
        # What is gone has the highest number, so it ends up last.
        foods, order = foods.masked_fill(lifted, self.gone).sort(1)
        food_levels = food_levels.masked_fill(lifted, 0).gather(1, order)
        state = self.pack(torch.cat([foods, players], 1), torch.cat([food_levels, levels], 1))
        return state, lifted.sum(1) / self.foods, foods[:, 0] == self.gone

    def move(self, players: Tensor, foods: Tensor, action: Tensor) -> Tensor:
        """Walk ``action [B, 2]`` from ``players [B, 2]`` where ``foods [B, F]`` and walls allow."""
        target = self.walks.take(players * self.n_actions + action)
        on_food = (target[..., None] == foods[:, None]).any(-1)
        target = torch.where(on_food, players, target)
        clash = target[:, :1] == target[:, 1:]
        return torch.where(clash, players, target)

    def lifted(self, players: Tensor, levels: Tensor, foods: Tensor, food_levels: Tensor, action: Tensor) -> Tensor:
        """Which foods go, ``[B, F]``: those whose level the loading players beside them reach."""
        lifting = levels * (action == LOAD)
        beside = self.beside.take(self.distance(players[..., None], foods[:, None]))  # [B, 2, F]
        strength = (beside * lifting[..., None]).sum(1)
        return (strength > 0) & (strength >= food_levels)

    def view(self, state: TensorDict) -> Tensor:
        """Remaining foods first, then both players, the own one before the other."""
        cells, levels = (state[key].index_select(1, self.seen) for key in ("cells", "levels"))
        row, column = cells // self.stride, cells % self.stride
        gone = cells == self.gone
        entries = torch.stack([row.masked_fill(gone, GONE), column.masked_fill(gone, GONE), levels], -1)
        return entries.view(-1, 2, self.view_size)

    def from_view(self, view: Tensor) -> TensorDict:
        """Read the first seat's view, which lists things as the state does."""
        return self.pack(*self.read(view[:, 0].long()))

    def read(self, view: Tensor) -> tuple[Tensor, Tensor]:
        """Cell and level, each ``[..., F + 2]``, of everything in ``view [..., view_size]``, in its order."""
        row, column, level = view.unflatten(-1, (self.foods + 2, 3)).unbind(-1)
        return self.cell(row, column).masked_fill(row == GONE, self.gone), level

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
        here = functional.embedding(own, self.here_rows)
        away = functional.embedding(self.distance(own, others), self.away_rows)
        return torch.cat([here.flatten(-2), away.flatten(-2), levels / (2.0 * self.max_level)], -1)

    def cell(self, row: Tensor, column: Tensor) -> Tensor:
        """Number of the cell in a row and a column."""
        return row * self.stride + column

    def distance(self, own: Tensor, other: Tensor) -> Tensor:
        """Where the tables of `by_distance` say of the way from ``own`` to ``other``."""
        return other - own + self.size * self.stride

    def pack(self, cells: Tensor, levels: Tensor) -> TensorDict:
        """Put a state together."""
        return TensorDict({"cells": cells, "levels": levels}, [len(cells)])


def by_cell(size: int) -> tuple[Tensor, Tensor]:
    """Where each action leads from a cell, at ``[cell * 6 + action]``, and the cell's row and column one-hot."""
    stride = 2 * size
    walks = torch.zeros(size * stride, len(MOVES), dtype=torch.long)
    rows = torch.zeros(size * stride, 2 * size)
    for row, column in itertools.product(range(size), repeat=2):
        cell = row * stride + column
        for action, (down, right) in enumerate(MOVES):
            inside = 0 <= row + down < size and 0 <= column + right < size
            walks[cell, action] = cell + down * stride + right if inside else cell
        rows[cell, [row, size + column]] = 1.0
    return walks.flatten(), rows


def by_distance(size: int) -> tuple[Tensor, Tensor]:
    """Whether two cells are neighbours, and the rows and the columns between them one-hot, none set for what is gone.

    Both are read at `LBF.distance`. To what is gone it is more than to any cell.
    """
    stride = 2 * size
    beside = torch.zeros(3 * size * stride + 1, dtype=torch.bool)
    rows = torch.zeros(3 * size * stride + 1, 2 * (2 * size - 1))
    for down, right in itertools.product(range(1 - size, size), repeat=2):
        distance = size * stride + down * stride + right
        beside[distance] = abs(down) + abs(right) == 1
        rows[distance, [down + size - 1, 2 * size - 1 + right + size - 1]] = 1.0
    return beside, rows


def free_place(number: Tensor, taken: Tensor) -> Tensor:
    """The ``number [B]``-th place of the grid that is not among ``taken [B, N]`` (ascending)."""
    for occupied in taken.unbind(1):
        number = number + (number >= occupied)
    return number


def too_close(first: int, second: int, size: int) -> bool:
    """Whether two foods on these cells would be in each other's way."""
    rows, columns = abs(first // size - second // size), abs(first % size - second % size)
    return max(rows, columns) <= 1 or (rows == 0 and columns <= 2) or (columns == 0 and rows <= 2)


def legal_placements(size: int, foods: int) -> Tensor:
    """List every way to place the foods, ``[N, F]`` row-major cell numbers, each ascending."""
    inner = [row * size + column for row, column in itertools.product(range(1, size - 1), repeat=2)]
    near = {cell: {other for other in inner if too_close(cell, other, size)} for cell in inner}
    placements: list[tuple[int, ...]] = [(cell,) for cell in inner]
    for _ in range(foods - 1):
        shorter, placements = placements, []
        for placed in shorter:
            placements += [
                (*placed, cell)
                for cell in inner
                if cell > placed[-1] and not any(cell in near[other] for other in placed)
            ]
            if len(placements) > MOST_PLACEMENTS:
                raise ValueError(
                    f"{foods} foods on {size} x {size}: more than {MOST_PLACEMENTS:,} placements to choose from"
                )
    if not placements:
        raise ValueError(f"{foods} foods don't fit on a grid of {size} x {size}: they must keep their distance")
    return torch.tensor(placements)
