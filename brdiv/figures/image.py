"""Figures as pixels, and what all of them share. Figures are built without pyplot: no display, no leaks."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

LAYOUTS: dict[tuple[Any, ...], list[Any]] = {}
"""Where the axes of figures stand that `as_image` has drawn, by kind and size."""


def policy_name(number: int) -> str:
    """Write pi^k, or pi^-k for a negative number, in plain letters: formulae take longer to draw."""
    return "\N{GREEK SMALL LETTER PI}" + str(number).translate(RAISED)


def as_image(figure: Figure, kind: str = "", dpi: int = 110) -> np.ndarray:
    """Render a figure to pixels ``[height, width, 3]``, for TensorBoard.

    Figures of one kind and size are laid out once: finding out how takes two thirds of drawing one.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure.set_dpi(dpi)
    canvas = FigureCanvasAgg(figure)
    layout = LAYOUTS.get((kind, *figure.get_size_inches()))
    if layout is not None:
        figure.set_layout_engine("none")
        for axes, position in zip(figure.axes, layout, strict=True):
            axes.set_position(position)
    canvas.draw()
    if kind:
        LAYOUTS[kind, *figure.get_size_inches()] = [axes.get_position() for axes in figure.axes]
    return np.asarray(canvas.buffer_rgba())[..., :3]
