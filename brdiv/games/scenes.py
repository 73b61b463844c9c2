"""What a page shows of a game: a few kinds of shapes, and how the game is explained to people."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

Shape = dict[str, Any]
"""An SVG element: its tag, its attributes, a kind that the page's style sheet knows, perhaps text or parts."""

PIECES = ("Circle", "Square")
"""What the two seats are called: by their shapes, which everyone can tell apart."""


class Action(NamedTuple):
    """Something a player can do."""

    name: str
    symbol: str
    keys: Sequence[str] = ()  # names of keys as browsers give them; what is pressed first is shown


class Guide(NamedTuple):
    """A game as explained to somebody who has never seen it."""

    title: str
    rules: Sequence[str]  # three sentences
    actions: Sequence[Action]
    legend: Sequence[tuple[Shape, str]] = ()  # a shape around the origin, and what it means
    box: tuple[float, float, float, float] = (0, 0, 1, 1)  # left, top, width and height of what is drawn
    board: Sequence[Shape] = ()  # what never changes


def shape(tag: str, kind: str, text: str = "", **attributes: float | str) -> Shape:
    """Describe an SVG element."""
    rounded = {name: round(value, 3) if isinstance(value, float) else value for name, value in attributes.items()}
    return {"tag": tag, "kind": kind, "at": rounded, **({"text": text} if text else {})}


def rect(x: float, y: float, width: float, height: float, kind: str, round_by: float = 0.0) -> Shape:
    """Describe a rectangle by its middle."""
    return shape("rect", kind, x=x - width / 2, y=y - height / 2, width=width, height=height, rx=round_by)


def disc(x: float, y: float, radius: float, kind: str) -> Shape:
    """Describe a disc."""
    return shape("circle", kind, cx=x, cy=y, r=radius)


def text(x: float, y: float, words: str, kind: str = "label", size: float = 0.3) -> Shape:
    """Describe words around a point."""
    return shape("text", kind, words, **{"x": x, "y": y, "font-size": size})


def polygon(x: float, y: float, radius: float, corners: int, kind: str) -> Shape:
    """Describe a regular polygon."""
    angles = [2 * math.pi * corner / corners for corner in range(corners)]
    points = " ".join(f"{x + radius * math.cos(angle):.3f},{y + radius * math.sin(angle):.3f}" for angle in angles)
    return shape("polygon", kind, points=points)


def group(key: str, x: float, y: float, parts: Sequence[Shape]) -> Shape:
    """Put shapes around a point; what has the same key in the next scene moves there."""
    return {"tag": "g", "kind": "", "key": key, "x": round(x, 3), "y": round(y, 3), "parts": list(parts)}


def piece(seat: int, radius: float = 0.34, words: str = "") -> list[Shape]:
    """Describe a player around the origin: the teammate's seat is a disc, the other a square."""
    body = disc(0, 0, radius, "seat0") if seat == 0 else rect(0, 0, 1.8 * radius, 1.8 * radius, "seat1", 0.2 * radius)
    return [body, *([text(0, 0, words, "on-piece", radius)] if words else [])]


def grid(columns: int, rows: int) -> list[Shape]:
    """Describe an empty board of unit cells, the first around the origin."""
    return [rect(column, row, 0.96, 0.96, "cell", 0.06) for row in range(rows) for column in range(columns)]


def plain_guide(title: str, n_actions: int) -> Guide:
    """Make do for a game that explains nothing."""
    actions = [Action(f"action {number}", str(number), (str(number),)) for number in range(n_actions)]
    rules = ["Two players act at the same time.", "What the team is paid, both are paid.", "This game has no picture."]
    return Guide(title, rules, actions, box=(-6.0, -4.0, 12.0, 8.0))


def plain_scene(lines: Sequence[str]) -> list[Shape]:
    """Show lines of text, for a game that draws nothing."""
    size = min(0.6, 7.5 / max(1, len(lines)))
    first = -size * (len(lines) - 1) / 2
    return [text(0, first + number * size, line, "mono", 0.8 * size) for number, line in enumerate(lines)]
