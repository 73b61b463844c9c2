"""How Simple Cooking looks and is explained in a browser."""

import math
from collections.abc import Sequence

from brdiv.games.cooking.drawing import NAMES, PROCESSED, SHORT, TOOLS, ring_position
from brdiv.games.cooking.rules import (
    BLENDED_CARROT,
    CELLS,
    CHOPPED_TOMATO,
    ITEMS,
    PLATE,
    REWARD,
    SERVING,
    TABLE,
    Cooking,
)
from brdiv.games.scenes import Action, Guide, Shape, disc, group, piece, polygon, shape, text

ACTIONS = (
    Action("stay", "stay", (" ", "0")),
    Action("anticlockwise", "↺", ("ArrowLeft", "a")),
    Action("clockwise", "↻", ("ArrowRight", "d")),
    Action("put on counter", "put ▸ counter", ("ArrowUp", "w")),
    Action("put on table", "put ▸ table", ("p",)),
    Action("take from table", "take ◂ table", ("t",)),
    Action("take from counter", "take ◂ counter", ("ArrowDown", "s")),
    Action("use tool", "use tool", ("Enter", "u")),
)
KINDS = ("tomato", "tomato", "carrot", "carrot", "plate")
OUTER, COUNTER, INNER, MIDDLE = 3.3, 2.45, 1.5, 1.4


def guide(game: Cooking) -> Guide:
    """Explain the game."""
    return Guide(
        "Simple Cooking",
        (
            "Two chefs walk a ring of ten cells; each reaches the counter it faces, and the table in the middle.",
            "Put the tomato on the knife's counter and use it, put the carrot on the blender's and use it, bring both "
            "and the plate together, and put all three on the serving counter.",
            f"Each of the four pays {REWARD:g}, serving wins, and after {game.horizon} steps the time is up.",
        ),
        ACTIONS,
        [(group("", 0, 0, item_parts(item, 0.4)), name) for item, name in enumerate(NAMES)],
        (-4.5, -3.85, 9.0, 7.7),
        board(),
    )


def board() -> list[Shape]:
    """Counters around cells around the table."""
    tools = dict(zip((0, 5, SERVING), TOOLS, strict=True))
    shapes = []
    for cell in range(CELLS):
        kind = "serving" if cell == SERVING else "tool" if cell in tools else "counter"
        shapes += [sector(cell, OUTER, COUNTER, kind), sector(cell, COUNTER, INNER, "cell")]
        x, y = ring_position(cell, OUTER + 0.28)
        x *= 1.1 if cell in tools else 1.0  # words are wider than high
        shapes.append(text(x, y, tools.get(cell, str(cell)), "label" if cell in tools else "faint", 0.27))
    return [*shapes, disc(0, 0, MIDDLE, "table"), text(0, 1.05, "table", "label", 0.27)]


def sector(cell: int, outer: float, inner: float, kind: str) -> Shape:
    """Describe a cell's part of a ring."""
    half = 0.485
    corners = []
    for radius, side in ((outer, -half), (outer, half), (inner, half), (inner, -half)):
        angle = 2 * math.pi * (cell + side) / CELLS - math.pi / 2
        corners.append(f"{radius * math.cos(angle):.3f} {radius * math.sin(angle):.3f}")
    first, second, third, fourth = corners
    way = f"M {first} A {outer} {outer} 0 0 1 {second} L {third} A {inner} {inner} 0 0 0 {fourth} Z"
    return shape("path", kind, d=way)


def item_parts(item: int, radius: float = 0.25) -> list[Shape]:
    """Describe an item around the origin: raw food a disc, processed food a hexagon, with its letter."""
    body = polygon(0, 0, 1.1 * radius, 6, KINDS[item]) if item in PROCESSED else disc(0, 0, radius, KINDS[item])
    return [body, text(0, 0, SHORT[item], f"on-{KINDS[item]}", 1.2 * radius)]


def lying(items: Sequence[int], x: float, y: float) -> list[Shape]:
    """Put items in a row around a point."""
    return [
        group(f"item{item}", x + 0.5 * (number - (len(items) - 1) / 2), y, item_parts(item))
        for number, item in enumerate(items)
    ]


def scene(game: Cooking, view: Sequence[int]) -> list[Shape]:
    """Both chefs, and the items where they lie or are held."""
    shapes = []
    for seat, start in enumerate((0, 6)):
        x, y = ring_position(view[start], (COUNTER + INNER) / 2)
        shapes.append(group(f"seat{seat}", x, y, piece(seat, 0.42)))
        shapes += lying([item for item in range(ITEMS) if view[start + 1 + item] > 0], x, y)
    for location in range(TABLE + 1):
        items = [item for item in range(ITEMS) if view[12 + item] == location]
        middle = (0.0, 0.0) if location == TABLE else ring_position(location, (OUTER + COUNTER) / 2)
        shapes += lying(items, *middle)
    return shapes


def exists(view: Sequence[int], item: int) -> bool:
    """Whether an item lies or is held anywhere."""
    return view[12 + item] >= 0 or view[1 + item] > 0 or view[7 + item] > 0


def news(game: Cooking, before: Sequence[int], after: Sequence[int], action: Sequence[int], reward: float) -> str:
    """Say for what was paid."""
    made = {CHOPPED_TOMATO: "the tomato is chopped", BLENDED_CARROT: "the carrot is blended"}
    parts = [words for item, words in made.items() if exists(after, item) and not exists(before, item)]
    served = all(after[12 + item] == SERVING for item in (CHOPPED_TOMATO, BLENDED_CARROT, PLATE))
    if round(reward / REWARD) > len(parts) + served:
        parts.append("the dish is together")
    if served:
        parts.append("it is served: won")
    told = ", ".join(parts)
    return f"{told[0].upper()}{told[1:]}." if told else "Nothing new was made."
