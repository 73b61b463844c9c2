"""What pictures of games share: a board of cells, and the two players on it."""

from matplotlib.axes import Axes
from matplotlib.patches import Circle, Rectangle

TEAMMATE, LEARNER = "#d1495b", "#2e6f9e"
NAMES = ("teammate", "best response")
COLOURS = (TEAMMATE, LEARNER)


def draw_board(axes: Axes, columns: int, rows: int) -> None:
    """Draw an empty board, row 0 at the top."""
    axes.add_patch(Rectangle((-0.5, -0.5), columns, rows, facecolor="#faf8f4", edgecolor="#555555"))
    for line in range(1, columns):
        axes.plot([line - 0.5] * 2, [-0.5, rows - 0.5], color="#dddddd", linewidth=0.8, zorder=1)
    for line in range(1, rows):
        axes.plot([-0.5, columns - 0.5], [line - 0.5] * 2, color="#dddddd", linewidth=0.8, zorder=1)
    axes.set_xlim(-0.55, columns - 0.45)
    axes.set_ylim(rows - 0.45, -0.55)
    axes.set_aspect("equal")
    axes.axis("off")


def draw_player(axes: Axes, seat: int, x: float, y: float, label: str = "", radius: float = 0.3) -> None:
    """Draw a player as a disc in its seat's colour."""
    axes.add_patch(Circle((x, y), radius, facecolor=COLOURS[seat], edgecolor="white", linewidth=1.2, zorder=4))
    if label:
        axes.text(x, y, label, color="white", ha="center", va="center", fontsize=9, fontweight="bold", zorder=5)
