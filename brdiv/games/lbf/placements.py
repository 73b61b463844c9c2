"""Where foods may lie, and where players may start beside them."""

import itertools

import torch
from torch import Tensor

from brdiv.errors import UserError

MOST_PLACEMENTS = 500_000


def legal_placements(size: int, foods: int) -> Tensor:
    """List every way to place the foods, ``[N, F]`` row-major places ``row * size + column``, each ascending."""
    inner = [row * size + column for row, column in itertools.product(range(1, size - 1), repeat=2)]
    near = {place: {other for other in inner if too_close(place, other, size)} for place in inner}
    placements: list[tuple[int, ...]] = [(place,) for place in inner]
    for _ in range(foods - 1):
        shorter, placements = placements, []
        for placed in shorter:
            placements += [
                (*placed, place)
                for place in inner
                if place > placed[-1] and not any(place in near[other] for other in placed)
            ]
            if len(placements) > MOST_PLACEMENTS:
                raise UserError(
                    f"{foods} foods on {size} x {size}: more than {MOST_PLACEMENTS:,} placements to choose from"
                )
    if not placements:
        raise UserError(f"{foods} foods don't fit on a grid of {size} x {size}: they must keep their distance")
    return torch.tensor(placements)


def too_close(first: int, second: int, size: int) -> bool:
    """Whether two foods at these places would be in each other's way."""
    rows, columns = abs(first // size - second // size), abs(first % size - second % size)
    return max(rows, columns) <= 1 or (rows == 0 and columns <= 2) or (columns == 0 and rows <= 2)


def free_place(number: Tensor, taken: Tensor) -> Tensor:
    """Find the ``number [B]``-th place of the grid that is not in ``taken [B, N]`` (ascending)."""
    for occupied in taken.unbind(1):
        number = number + (number >= occupied)
    return number
