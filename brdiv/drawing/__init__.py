"""How each game looks: a picture for people, a few lines of text for terminals."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes

from brdiv.drawing import cooking, lbf, reaching
from brdiv.envs import LBF, Cooking, Game, Reaching


class Look(NamedTuple):
    """Both take the game and seat 0's logical view."""

    draw: Callable[..., None]  # (game, view, axes)
    text: Callable[..., str]  # (game, view)


LOOKS: dict[type[Game], Look] = {
    Reaching: Look(reaching.draw, reaching.text),
    LBF: Look(lbf.draw, lbf.text),
    Cooking: Look(cooking.draw, cooking.text),
}


def look_of(game: Game) -> Look:
    """Find how a game looks; one that has no drawing of its own shows its view as numbers."""
    for parent in type(game).__mro__:
        if parent in LOOKS:
            return LOOKS[parent]
    return Look(draw_numbers, text_numbers)


def text_numbers(game: Game, view: Sequence[int]) -> str:
    """Write the view's numbers."""
    return " ".join(map(str, view))


def draw_numbers(game: Game, view: Sequence[int], axes: Axes) -> None:
    """Write the view's numbers, eight a line."""
    lines = [" ".join(map(str, view[start : start + 8])) for start in range(0, len(view), 8)]
    axes.text(0.5, 0.5, "\n".join(lines), ha="center", va="center", family="monospace")
    axes.axis("off")
