"""How Level-Based Foraging looks."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from brdiv.games.board import draw_board, draw_player
from brdiv.games.lbf.rules import LBF


def entries(game: LBF, view: Sequence[int]) -> list[tuple[int, int, int]]:
    """(row, column, level) of foods, then of the two players."""
    return [(view[at], view[at + 1], view[at + 2]) for at in range(0, game.view_size, 3)]


def draw(game: LBF, view: Sequence[int], axes: Axes) -> None:
    """Foods and players with their levels."""
    draw_board(axes, game.size, game.size)
    *foods, first, second = entries(game, view)
    for row, column, level in foods:
        if level:
            corner = (column - 0.24, row - 0.24)
            axes.add_patch(
                FancyBboxPatch(
                    corner, 0.48, 0.48, boxstyle="round,pad=0.06", facecolor="#e8a838", edgecolor="#9a6a10", zorder=3
                )
            )
            axes.text(column, row, str(level), ha="center", va="center", fontsize=9, fontweight="bold", zorder=4)
    for seat, (row, column, level) in enumerate((first, second)):
        draw_player(axes, seat, column, row, str(level))


def text(game: LBF, view: Sequence[int]) -> str:
    """Two characters per cell: T or B for teammate or best response, f for food, each with its level."""
    board = [[" ." for _ in range(game.size)] for _ in range(game.size)]
    *foods, first, second = entries(game, view)
    for row, column, level in foods:
        if level:
            board[row][column] = f"f{level}"
    for letter, (row, column, level) in zip("TB", (first, second), strict=True):
        board[row][column] = f"{letter}{level}"
    return "\n".join(" ".join(row) for row in board)
