"""What environments render: one moment of an episode as pixels or text."""

from typing import Any

import numpy as np

from brdiv.errors import UserError
from brdiv.games import Frame, Playable

RENDER_MODES = ["rgb_array", "human", "ansi"]


def check_render_mode(game: Playable, mode: str | None) -> None:
    """Refuse modes that there are not, and to draw what has no view."""
    if mode is not None and mode not in RENDER_MODES:
        raise UserError(f"render_mode is {mode!r}: it must be one of {', '.join(RENDER_MODES)}")
    if mode is not None and not game.view_size:
        raise UserError(f"{type(game).__name__} environments draw themselves; brdiv can't")


def render(game: Playable, frame: Frame, mode: str, title: str) -> Any:
    """Draw a moment: pixels ``[height, width, 3]`` for rgb_array, a text for ansi; human prints that text."""
    if mode == "rgb_array":
        from brdiv.figures import as_image, draw_frame

        return np.ascontiguousarray(as_image(draw_frame(game, frame, title)))
    from brdiv.figures import caption

    text = f"{title}\n{caption(frame)}\n{game.text(frame.view)}\n"
    if mode == "ansi":
        return text
    print(text)
    return None
