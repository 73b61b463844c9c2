"""The cells of a grid as numbers, so that rules about one cell or two are tables to look up."""

import itertools

import torch
from torch import Tensor, nn
from torch.nn import functional

STAY, NORTH, SOUTH, WEST, EAST, LOAD = range(6)
MOVES = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1), (0, 0))
"""Where each action leads, as (row, column) steps; loading stays."""


class Cells(nn.Module):
    """Numbers for the cells of a grid of ``size`` rows and columns, and what follows from one number or from two.

    A cell's number is ``row * 2 * size + column``. With rows that far apart the difference of two numbers says without
    doubt how many rows and how many columns lie between, whichever way, so everything about two places is one look-up
    in a table by that difference. What is no longer on the grid has the number `gone`, further off than any cell.
    """

    walks: Tensor
    neighbours: Tensor
    one_hot_places: Tensor
    one_hot_ways: Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.stride = 2 * size
        self.middle = size * self.stride  # where tables by difference say of a difference of 0
        self.gone = 2 * self.middle
        self.place_size = 2 * size
        self.way_size = 2 * (2 * size - 1)
        walks = torch.zeros(size * self.stride, len(MOVES), dtype=torch.long)
        one_hot_places = torch.zeros(size * self.stride, self.place_size)
        for row, column in itertools.product(range(size), repeat=2):
            cell = row * self.stride + column
            for action, (down, right) in enumerate(MOVES):
                inside = 0 <= row + down < size and 0 <= column + right < size
                walks[cell, action] = cell + down * self.stride + right if inside else cell
            one_hot_places[cell, [row, size + column]] = 1.0
        neighbours = torch.zeros(3 * self.middle + 1, dtype=torch.bool)
        one_hot_ways = torch.zeros(3 * self.middle + 1, self.way_size)  # none set for the way to what is gone
        for down, right in itertools.product(range(1 - size, size), repeat=2):
            difference = self.middle + down * self.stride + right
            neighbours[difference] = abs(down) + abs(right) == 1
            one_hot_ways[difference, [down + size - 1, 2 * size - 1 + right + size - 1]] = 1.0
        self.register_buffer("walks", walks.flatten(), persistent=False)
        self.register_buffer("one_hot_places", one_hot_places, persistent=False)
        self.register_buffer("neighbours", neighbours, persistent=False)
        self.register_buffer("one_hot_ways", one_hot_ways, persistent=False)

    def number(self, row: Tensor, column: Tensor) -> Tensor:
        """Number the cell in a row and a column, all ``[...]``."""
        return row * self.stride + column

    def rows_and_columns(self, cell: Tensor) -> tuple[Tensor, Tensor]:
        """Row and column ``[...]`` of ``cell [...]``; meaningless for what is gone."""
        return cell // self.stride, cell % self.stride

    def walk(self, cell: Tensor, action: Tensor) -> Tensor:
        """Where ``action [...]`` leads from ``cell [...]``, if nothing but the walls is in the way."""
        return self.walks.take(cell * len(MOVES) + action)

    def beside(self, cell: Tensor, other: Tensor) -> Tensor:
        """Whether two cells are neighbours, not across a corner. Shapes broadcast."""
        return self.neighbours.take(other - cell + self.middle)

    def one_hot_place(self, cell: Tensor) -> Tensor:
        """One-hot the row and the column of ``cell [...]``: ``[..., place_size]``."""
        return functional.embedding(cell, self.one_hot_places)

    def one_hot_way(self, cell: Tensor, other: Tensor) -> Tensor:
        """One-hot how many rows and columns lead from ``cell`` to ``other``: ``[..., way_size]``. Shapes broadcast."""
        return functional.embedding(other - cell + self.middle, self.one_hot_ways)
