"""How Simple Cooking looks: a ring of cells, counters outside, the table inside."""

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Circle, RegularPolygon, Wedge

from brdiv.games.board import draw_player
from brdiv.games.cooking.rules import CELLS, TABLE, Cooking

NAMES = ("tomato", "chopped tomato", "carrot", "blended carrot", "plate")
SHORT = ("t", "T", "c", "C", "P")
COLOURS = ("#d9412b", "#d9412b", "#ef8a17", "#ef8a17", "#ffffff")
PROCESSED = (1, 3)
TOOLS = ("blender", "knife", "serving")


def ring_position(cell: int, radius: float) -> tuple[float, float]:
    """Where a cell's middle is at this radius; cell 0 at the top, clockwise."""
    angle = math.pi / 2 - 2 * math.pi * cell / CELLS
    return radius * math.cos(angle), -radius * math.sin(angle)


def draw_items(axes: Axes, items: Sequence[int], x: float, y: float) -> None:
    """Draw items in a row: raw food as discs, processed as hexagons, the plate white."""
    for number, item in enumerate(items):
        at = (x + 0.42 * (number - (len(items) - 1) / 2), y)
        style: dict[str, Any] = {"facecolor": COLOURS[item], "edgecolor": "#333333", "linewidth": 0.9, "zorder": 6}
        if item in PROCESSED:
            axes.add_patch(RegularPolygon(at, 6, radius=0.24, **style))
        else:
            axes.add_patch(Circle(at, 0.21, **style))
        axes.text(*at, SHORT[item], ha="center", va="center", fontsize=6.5, zorder=7)


def explain_letters(axes: Axes) -> None:
    """Label what the letters mean, for a legend below the picture."""
    for item, name in enumerate(NAMES):
        axes.plot([], [], marker="h" if item in PROCESSED else "o", linestyle="", markersize=7, color=COLOURS[item],
                  markeredgecolor="#333333", label=f"{SHORT[item]}: {name}")  # fmt: skip


def draw(game: Cooking, view: Sequence[int], axes: Axes) -> None:
    """Counters with tools and items, the table, both chefs with what they hold; letters are explained in a legend."""
    names = dict(zip(view[17:20], TOOLS, strict=True))
    for cell in range(CELLS):
        middle = 90 - 360 * cell / CELLS
        colour = {"serving": "#bfe3bf"}.get(names.get(cell, ""), "#e3d5c0" if cell in names else "#f1ebe1")
        axes.add_patch(Wedge((0, 0), 3.2, -middle - 18, -middle + 18, width=0.8, facecolor=colour, edgecolor="white"))
        axes.add_patch(
            Wedge((0, 0), 2.4, -middle - 18, -middle + 18, width=0.9, facecolor="#faf8f4", edgecolor="#dddddd")
        )
        x, y = ring_position(cell, 3.45)
        axes.text(x, y, names.get(cell, str(cell)), ha="center", va="center", fontsize=6.5, color="#555555")
    axes.add_patch(Circle((0, 0), 1.4, facecolor="#d9b28c", edgecolor="#8a6a4a"))
    axes.text(0, 1.0, "table", ha="center", va="center", fontsize=6.5, color="#6b4e31")
    for location in range(TABLE + 1):
        items = [item for item in range(5) if view[12 + item] == location]
        draw_items(axes, items, *((0.0, 0.0) if location == TABLE else ring_position(location, 2.8)))
    for seat, start in enumerate((0, 6)):
        x, y = ring_position(view[start], 1.95)
        draw_player(axes, seat, x, y, radius=0.38)
        draw_items(axes, [item for item in range(5) if view[start + 1 + item] > 0], x, y)
    explain_letters(axes)
    axes.set_xlim(-3.8, 3.8)
    axes.set_ylim(3.8, -3.8)
    axes.set_aspect("equal")
    axes.axis("off")


def text(game: Cooking, view: Sequence[int]) -> str:
    """One line per cell: number, tool, what lies there, who stands there and holds what."""
    names = dict(zip(view[17:20], TOOLS, strict=True))

    def at(location: int) -> str:
        return ", ".join(NAMES[item] for item in range(5) if view[12 + item] == location)

    def held(start: int) -> str:
        return ", ".join(NAMES[item] for item in range(5) if view[start + 1 + item] > 0) or "nothing"

    lines = []
    for cell in range(CELLS):
        chef = next(
            (f"<- {who}, holds {held(start)}" for who, start in (("T", 0), ("B", 6)) if view[start] == cell), ""
        )
        lines.append(f"{cell} {names.get(cell, ''):8} {at(cell):34} {chef}".rstrip())
    return "\n".join([*lines, f"table      {at(TABLE)}".rstrip()])
