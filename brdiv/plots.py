"""Every figure. Figures are built without pyplot, so drawing never needs a display nor leaks memory."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from torch import Tensor

from brdiv.metrics import best_response_diversity, mean_diagonal, mean_off_diagonal


def cross_play_heatmap(matrix: Tensor, title: str = "", names: Sequence[str] | None = None) -> Figure:
    """Draw a cross-play matrix ``[K, K]``: teammates down, best responses across, returns written in the cells."""
    values = matrix.cpu().numpy()
    n_types = len(values)
    names = names or [str(k + 1) for k in range(n_types)]
    figure = Figure(figsize=(1.6 + 0.62 * n_types, 1.5 + 0.62 * n_types), layout="constrained")
    axes = figure.add_subplot()
    top = max(1.0, float(values.max()))
    image = axes.imshow(values, cmap="viridis", vmin=0.0, vmax=top)
    for i, j in np.ndindex(values.shape):
        ink = "white" if values[i, j] < top / 2 else "black"
        axes.text(j, i, f"{values[i, j]:.2f}", ha="center", va="center", color=ink, fontsize=9)
    axes.set_xticks(range(n_types), [f"$\\pi^{{-{name}}}$" for name in names])
    axes.set_yticks(range(n_types), [f"$\\pi^{{{name}}}$" for name in names])
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


def as_image(figure: Figure, dpi: int = 110) -> np.ndarray:
    """Render a figure to pixels ``[height, width, 3]``, for TensorBoard."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure.set_dpi(dpi)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3]
