"""Where foods may lie, and where players may start beside them."""

import numpy as np
import torch
from torch import Tensor

from brdiv.errors import UserError

MOST_PLACEMENTS = 500_000
LARGEST_TABLE = 50_000_000


def legal_placements(size: int, foods: int) -> Tensor:
    """List every way to place the foods, ``[N, F]`` row-major places ``row * size + column``, each ascending.

    In numpy, because how many there are must be read on the way.
    """
    inside = np.arange(1, max(size - 1, 1))
    inner = np.stack(np.meshgrid(inside, inside, indexing="ij"), -1).reshape(-1, 2)  # [I, 2]
    may_follow = np.triu(~too_close(inner[:, None], inner[None]), 1)  # [I, I]: each set of foods in one order alone
    chosen = np.arange(len(inner))[:, None]  # [N, foods so far]
    free = may_follow  # [N, I] where the next food may lie
    for missing in range(foods - 1, 0, -1):
        found = int(free.sum())
        # Where the table of what is free next would be large, there are millions of ways to go on.
        if found > MOST_PLACEMENTS or (missing > 1 and found * len(inner) > LARGEST_TABLE):
            raise UserError(
                f"{foods} foods on {size} x {size}: more than {MOST_PLACEMENTS:,} placements to choose from"
            )
        which, place = free.nonzero()
        chosen = np.concatenate([chosen[which], place[:, None]], 1)
        if missing > 1:
            free = free[which] & may_follow[place]
    if not len(chosen):
        raise UserError(f"{foods} foods don't fit on a grid of {size} x {size}: they must keep their distance")
    rows, columns = inner[chosen][..., 0], inner[chosen][..., 1]
    return torch.tensor(rows * size + columns)


def too_close(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Whether two foods at (row, column) ``[..., 2]`` would be in each other's way. Shapes broadcast."""
    away = np.abs(first - second)
    rows, columns = away[..., 0], away[..., 1]
    return (np.maximum(rows, columns) <= 1) | ((rows == 0) & (columns <= 2)) | ((columns == 0) & (rows <= 2))


def free_place(number: Tensor, taken: Tensor) -> Tensor:
    """Find the ``number [B]``-th place of the grid that is not in ``taken [B, N]`` (ascending)."""
    for occupied in taken.unbind(1):
        number = number + (number >= occupied)
    return number
