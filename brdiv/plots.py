"""Every figure. Figures are built without pyplot, so drawing never needs a display nor leaks memory."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from torch import Tensor

from brdiv.metrics import best_response_diversity, mean_diagonal, mean_off_diagonal

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

LAYOUTS: dict[tuple[Any, ...], list[Any]] = {}
"""Where the axes of figures stand that `as_image` has drawn, by kind and size."""


def policy_name(number: int) -> str:
    """Write pi^k, or pi^-k for a negative number, in plain letters: formulae take longer to draw."""
    return "\N{GREEK SMALL LETTER PI}" + str(number).translate(RAISED)


def cross_play_heatmap(matrix: Tensor, title: str = "") -> Figure:
    """Draw a cross-play matrix ``[K, K]``: teammates down, best responses across, returns written in the cells."""
    values = matrix.cpu().numpy()
    n_types = len(values)
    figure = Figure(figsize=(1.6 + 0.62 * n_types, 1.5 + 0.62 * n_types), layout="constrained")
    axes = figure.add_subplot()
    top = max(1.0, float(values.max()))
    image = axes.imshow(values, cmap="viridis", vmin=0.0, vmax=top)
    for i, j in np.ndindex(values.shape):
        ink = "white" if values[i, j] < top / 2 else "black"
        axes.text(j, i, f"{values[i, j]:.2f}", ha="center", va="center", color=ink, fontsize=9)
    axes.set_xticks(range(n_types), [policy_name(-k - 1) for k in range(n_types)], fontsize=12)
    axes.set_yticks(range(n_types), [policy_name(k + 1) for k in range(n_types)], fontsize=12)
    axes.set_xlabel("best response")
    axes.set_ylabel("teammate")
    summary = (
        f"diagonal {mean_diagonal(matrix):.3f}, off-diagonal {mean_off_diagonal(matrix):.3f}, "
        f"BRDiv {best_response_diversity(matrix):.2f}"
    )
    # Above the whole figure: over the axes alone it would run into the colour bar.
    figure.suptitle(f"{title}\n{summary}" if title else summary, fontsize=8)
    figure.colorbar(image, ax=axes, label="mean return", shrink=0.85)
    return figure


def evaluation_heatmap(
    methods: Sequence[str], teammates: Sequence[str], estimates: Sequence[Sequence[Sequence[float]]], title: str = ""
) -> Figure:
    """Draw mean returns, teammates down and methods across, with their intervals ``estimates[teammate][method]``."""
    values = np.array([[cell[0] for cell in row] for row in estimates], dtype=float)
    figure = Figure(figsize=(3.0 + 1.15 * len(methods), 1.2 + 0.42 * len(teammates)), layout="constrained")
    axes = figure.add_subplot()
    top = max(1.0, float(np.nanmax(values)) if np.isfinite(values).any() else 1.0)
    image = axes.imshow(values, cmap="viridis", vmin=0.0, vmax=top, aspect="auto")
    for i, j in np.ndindex(values.shape):
        value, low, high = estimates[i][j]
        if np.isnan(value):
            text, ink = "seen", "grey"
        else:
            ink = "white" if value < top / 2 else "black"
            text = f"{value:.2f}" if np.isnan(low) else f"{value:.2f}\n[{low:.2f}, {high:.2f}]"
        axes.text(j, i, text, ha="center", va="center", color=ink, fontsize=7)
    axes.set_xticks(range(len(methods)), methods, rotation=30, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(teammates)), teammates, fontsize=8)
    axes.set_ylabel("teammate")
    figure.suptitle(title, fontsize=9)
    figure.colorbar(image, ax=axes, label="mean return")
    return figure


def recognition_chart(curves: Mapping[str, Sequence[Sequence[float]]], title: str = "") -> Figure:
    """Draw how soon learners know their own teammates: for each method the curves of its seeds, over steps."""
    figure = Figure(figsize=(5.2, 3.0), layout="constrained")
    axes = figure.add_subplot()
    for number, (method, seeds) in enumerate(curves.items()):
        for curve in seeds:
            axes.plot(range(1, len(curve) + 1), curve, color=f"C{number}", alpha=0.6, linewidth=1)
        axes.plot([], [], color=f"C{number}", label=method)
    axes.set_ylim(0, 1.02)
    axes.set_xscale("log")
    axes.set_xlabel("step")
    axes.set_ylabel("teammate named rightly")
    axes.set_title(title, fontsize=9)
    figure.legend(loc="outside right center", fontsize=8, frameon=False)
    return figure


def belief_chart(beliefs: Sequence[Sequence[float]], title: str = "") -> Figure:
    """Draw which type a learner thinks it sees, step by step: ``beliefs [steps, K]``."""
    values = np.array(beliefs)
    figure = Figure(figsize=(5.2, 2.6), layout="constrained")
    axes = figure.add_subplot()
    for k, line in enumerate(values.T):
        axes.plot(range(len(line)), line, marker=".", label=policy_name(k + 1))
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel("step")
    axes.set_ylabel("belief")
    axes.set_title(title, fontsize=9)
    figure.legend(loc="outside right center", fontsize=8, frameon=False)
    return figure


def scaling_chart(by_rows: Mapping[str, Sequence[Any]], by_types: Sequence[Any]) -> Figure:
    """Draw steps a second and peak memory over rows, one curve a label, and an update's time over population sizes."""
    figure = Figure(figsize=(10.5, 3.0), layout="constrained")
    speed, memory, types = figure.subplots(1, 3)
    for label, points in by_rows.items():
        rows = [point.rows for point in points]
        speed.plot(rows, [point.env_steps_per_second for point in points], marker="o", label=label)
        memory.plot(rows, [point.peak_memory_mib for point in points], marker="o", label=label)
    for axes, what in ((speed, "environment steps a second"), (memory, "peak memory (MiB)")):
        axes.set_xscale("log")
        axes.set_xlabel("rows")
        axes.set_ylabel(what)
        axes.set_ylim(bottom=0)
        axes.legend(fontsize=8, frameon=False)
    sizes = [point.n_types for point in by_types]
    types.plot(sizes, [point.milliseconds_per_update for point in by_types], marker="o")
    types.set_xlabel("teammates, K")
    types.set_ylabel("ms an update")
    types.set_xlim(left=0)
    types.set_ylim(bottom=0)
    return figure


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
