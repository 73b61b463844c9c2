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
GONE = -1  # row and column of a food that was collected
MOST_PLACEMENTS = 500_000


class LBF(Game):
    """Level-Based Foraging (Section 6.1): collect every food, each of which takes both players.

    - State: ``players [B, 2, 2]`` (row, column), ``levels [B, 2]``, ``foods [B, F, 2]`` in row-major order, (-1, -1)
      once collected, ``food_levels [B, F]``, 0 once collected.
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
    moves: Tensor
    placements: Tensor
    others: Tensor
    place_rows: Tensor
    offset_rows: Tensor

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
        self.register_buffer("moves", torch.tensor(MOVES), persistent=False)
        self.register_buffer("placements", legal_placements(size, foods), persistent=False)
        # What in the view is not the player itself, and one-hot rows to look up: for integers one_hot takes three times
        # as long. The last row of offsets is for what is gone.
        self.register_buffer("others", torch.tensor([*range(foods), foods + 1]), persistent=False)
        self.register_buffer("place_rows", torch.eye(size), persistent=False)
        self.register_buffer("offset_rows", torch.eye(2 * size, 2 * size - 1), persistent=False)

    def initial(self, rows: int, generator: torch.Generator) -> TensorDict:
        """Draw foods from the table of legal placements, then players from the cells that are left."""
        device = generator.device
        chosen = torch.randint(len(self.placements), (rows,), generator=generator, device=device)
        taken = self.placements[chosen]
        players = []
        for _ in range(2):
            free = self.size**2 - taken.shape[1]
            cell = free_cell(torch.randint(free, (rows,), generator=generator, device=device), taken)
            players.append(cell)
            taken = torch.cat([taken, cell[:, None]], 1).sort(1).values
        levels = torch.randint(1, self.max_level + 1, (rows, 2), generator=generator, device=device)
        food_levels = levels.sum(1, keepdim=True).repeat(1, self.foods)
        foods = self.cells(self.placements[chosen])
        return self.pack(self.cells(torch.stack(players, 1)), levels, foods, food_levels)

    def step(self, state: TensorDict, action: Tensor) -> tuple[TensorDict, Tensor, Tensor]:
        """Move, then load."""
        foods, levels = state["foods"], state["levels"]
        players = self.move(state["players"], foods, action)
        lifted = self.lifted(players, levels, foods, state["food_levels"], action)
        food_levels = state["food_levels"].masked_fill(lifted, 0)
        state = self.pack(players, levels, foods.masked_fill(lifted[..., None], GONE), food_levels)
        return state, lifted.sum(1) / self.foods, (food_levels == 0).all(1)

    def move(self, players: Tensor, foods: Tensor, action: Tensor) -> Tensor:
        """Walk ``action [B, 2]`` from ``players [B, 2, 2]`` where ``foods [B, F, 2]`` and walls allow."""
        target = (players + self.moves[action]).clamp(0, self.size - 1)
        on_food = (target[:, :, None] == foods[:, None]).all(-1).any(-1, keepdim=True)
        target = torch.where(on_food, players, target)
        clash = (target[:, :1] == target[:, 1:]).all(-1, keepdim=True)
        return torch.where(clash, players, target)

    def lifted(self, players: Tensor, levels: Tensor, foods: Tensor, food_levels: Tensor, action: Tensor) -> Tensor:
        """Which foods go, ``[B, F]``: those whose level the loading players beside them reach."""
        beside = (players[:, :, None] - foods[:, None]).abs().sum(-1) == 1  # [B, 2, F]
        lifting = beside & (action == LOAD)[..., None]
        strength = (lifting * levels[..., None]).sum(1)
        return (food_levels > 0) & (strength >= food_levels)

    def view(self, state: TensorDict) -> Tensor:
        """Remaining foods first, then both players, the own one before the other."""
        foods = torch.cat([state["foods"], state["food_levels"][..., None]], -1)
        gone = state["food_levels"] == 0
        # Foods are in row-major order already; a stable sort moves those that are gone to the end.
        order = gone.byte().argsort(dim=1, stable=True)
        foods = foods.gather(1, order[..., None].expand_as(foods)).flatten(1)
        players = torch.cat([state["players"], state["levels"][..., None]], -1)
        both = torch.stack([players, players.flip(1)], 1).flatten(2)
        return torch.cat([foods[:, None].expand(-1, 2, -1), both], -1)

    def from_view(self, view: Tensor) -> TensorDict:
        """Read foods and players from the first seat's view."""
        entries = view[:, 0].long().unflatten(-1, (self.foods + 2, 3))
        foods, players = entries[:, : self.foods], entries[:, self.foods :]
        return self.pack(players[..., :2], players[..., 2], foods[..., :2], foods[..., 2])

    def encode(self, view: Tensor) -> Tensor:
        """One-hot the own row and column, and how many rows and columns away everything else is."""
        entries = view.unflatten(-1, (self.foods + 2, 3))
        places, levels = entries[..., :2], entries[..., 2] / (2.0 * self.max_level)
        own, others = places[..., self.foods, :], places.index_select(-2, self.others)
        offset = others - (own - (self.size - 1))[..., None, :]
        offset = offset.masked_fill(others == GONE, len(self.offset_rows) - 1)
        here, away = functional.embedding(own, self.place_rows), functional.embedding(offset, self.offset_rows)
        return torch.cat([here.flatten(-2), away.flatten(-3), levels], -1)

    def cells(self, index: Tensor) -> Tensor:
        """Row and column ``[..., 2]`` of row-major cell numbers ``[...]``."""
        return torch.stack([index // self.size, index % self.size], -1)

    def pack(self, players: Tensor, levels: Tensor, foods: Tensor, food_levels: Tensor) -> TensorDict:
        """Put a state together."""
        entries = {"players": players, "levels": levels, "foods": foods, "food_levels": food_levels}
        return TensorDict(entries, [len(players)], device=players.device)


def free_cell(number: Tensor, taken: Tensor) -> Tensor:
    """The ``number [B]``-th cell that is not among ``taken [B, N]`` (ascending)."""
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
