"""How Cooperative Reaching looks."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from brdiv.games.board import draw_board, draw_player
from brdiv.games.reaching.rules import Reaching


def draw(game: Reaching, view: Sequence[int], axes: Axes) -> None:
    """Goals with their payoffs, both agents; side by side where they share a cell."""
    draw_board(axes, game.size, game.size)
    for (x, y), payoff in zip(game.goals, game.payoffs, strict=True):
        best = payoff == max(game.payoffs)
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor="#9bc89b" if best else "#dcebc5", zorder=2))
        axes.text(x, y - 0.36, f"{payoff:g}", ha="center", va="center", fontsize=7, color="#335533", zorder=3)
    cells = (view[0], view[1]), (view[2], view[3])
    aside = 0.2 if cells[0] == cells[1] else 0.0
    for seat, (x, y) in enumerate(cells):
        draw_player(axes, seat, x + (-aside, aside)[seat], y, radius=0.2 if aside else 0.3)


def text(game: Reaching, view: Sequence[int]) -> str:
    """One character per cell: T teammate, B best response, X both, * goal."""
    board = [["." for _ in range(game.size)] for _ in range(game.size)]
    for x, y in game.goals:
        board[y][x] = "*"
    board[view[1]][view[0]] = "T"
    board[view[3]][view[2]] = "X" if (view[0], view[1]) == (view[2], view[3]) else "B"
    return "\n".join(" ".join(row) for row in board)
