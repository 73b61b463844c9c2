"""Matrices as heatmaps: cross-play, and learners with strangers."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from brdiv.figures.image import policy_name
from brdiv.metrics import best_response_diversity, mean_diagonal, mean_off_diagonal
from brdiv.text import for_figure


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
    figure.suptitle(f"{for_figure(title)}\n{summary}" if title else summary, fontsize=8)
    figure.colorbar(image, ax=axes, label="mean return", shrink=0.85)
    return figure


def share_heatmap(matrix: Tensor, title: str = "", enough: float = 0.95) -> Figure:
    """Draw how far one response serves two teams, shares ``[K, K]`` in the cells, framed from ``enough`` on.

    The matrix is symmetric; on the diagonal is the response to one team alone. NaN, of teams that were not judged, is
    left grey.
    """
    values = matrix.cpu().numpy()
    n_types = len(values)
    figure = Figure(figsize=(1.9 + 0.62 * n_types, 1.6 + 0.62 * n_types), layout="constrained")
    axes = figure.add_subplot()
    axes.set_facecolor("lightgrey")
    image = axes.imshow(values, cmap="viridis", vmin=0.0, vmax=1.0)
    for i, j in np.ndindex(values.shape):
        if np.isnan(values[i, j]):
            continue
        ink = "white" if values[i, j] < 0.5 else "black"
        axes.text(j, i, f"{values[i, j]:.2f}", ha="center", va="center", color=ink, fontsize=9)
        if values[i, j] >= enough:
            axes.add_patch(Rectangle((j - 0.46, i - 0.46), 0.92, 0.92, fill=False, edgecolor="tab:red", linewidth=1.5))
    names = [policy_name(k + 1) for k in range(n_types)]
    axes.set_xticks(range(n_types), names, fontsize=12)
    axes.set_yticks(range(n_types), names, fontsize=12)
    axes.set_xlabel("teammate")
    axes.set_ylabel("teammate")
    figure.suptitle("\n".join(for_figure(line) for line in title.splitlines()), fontsize=8)
    figure.colorbar(image, ax=axes, label="smaller share of the own returns", shrink=0.85)
    return figure


def evaluation_heatmap(
    methods: Sequence[str], teammates: Sequence[str], estimates: Sequence[Sequence[Sequence[float]]], title: str = ""
) -> Figure:
    """Draw mean returns, teammates down and methods across, with their intervals ``estimates[teammate][method]``.

    Below the title it says what the cells show: one seed has no interval, and none is claimed.
    """
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
    axes.set_xticks(
        range(len(methods)), [for_figure(name) for name in methods], rotation=30, ha="right", rotation_mode="anchor"
    )
    axes.set_yticks(range(len(teammates)), [for_figure(name) for name in teammates], fontsize=8)
    axes.set_ylabel("teammate")
    figure.suptitle(f"{for_figure(title)}\n{what_cells_show(estimates)}", fontsize=9)
    figure.colorbar(image, ax=axes, label="mean return")
    return figure


def what_cells_show(estimates: Sequence[Sequence[Sequence[float]]]) -> str:
    """Say whether cells ``(value, low, high)`` have intervals; those without a value say nothing.

    >>> what_cells_show([[(0.5, 0.4, 0.6)], [(0.7, 0.6, 0.8)]])
    'mean and 95 % interval over seeds'
    """
    has_interval = {not np.isnan(cell[1]) for row in estimates for cell in row if not np.isnan(cell[0])}
    if True not in has_interval:
        return "one seed"
    return "mean and 95 % interval over seeds" + ("; no interval: one seed" if False in has_interval else "")
