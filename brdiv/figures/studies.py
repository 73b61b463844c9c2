"""Figures of a whole study: aggregates with intervals, diversity and return, learning curves with bands.

Each gives its artists gids, `<anything>.<class>`, and returns what is to be said over them beside the figure.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

MOST_COLUMNS = 3
"""More panels than these stand in two columns: side by side they would be too small to read."""

Interval = Sequence[float]  # value, low, high; the last two NaN where there is no interval


class Curve(NamedTuple):
    """A method's curve: its mean over seeds, and how far seeds lie apart."""

    steps: Sequence[float]
    middle: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    seeds: int


def interval_chart(
    panels: Mapping[str, Mapping[str, Interval]], colours: Mapping[str, str], xlabel: str
) -> tuple[Figure, dict[str, str]]:
    """Draw estimates with their intervals, a line per method, one panel beside the other."""
    methods = list(dict.fromkeys(label for panel in panels.values() for label in panel))
    figure = Figure(figsize=(1.3 + 3.1 * len(panels), 0.85 + 0.27 * len(methods)), layout="constrained")
    grid = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
    hover: dict[str, str] = {}
    for number, (axes, (title, panel)) in enumerate(zip(grid, panels.items(), strict=True)):
        for place, label in enumerate(methods):
            value, low, high = panel.get(label, (np.nan,) * 3)
            if np.isnan(value):
                continue
            gid = f"{number}-{place}.m{place}"
            ends = [low, high] if not np.isnan(low) else [value, value]
            axes.plot(ends, [place] * 2, color=colours[label], linewidth=7, alpha=0.35, solid_capstyle="butt", gid=gid)
            axes.plot(value, place, "o", color=colours[label], markersize=6, gid=f"{number}-{place}-dot.m{place}")
            text = f"{label}: {value:.3f}" + ("" if np.isnan(low) else f" [{low:.3f}, {high:.3f}]")
            hover |= {gid: text, f"{number}-{place}-dot.m{place}": text}
        axes.set_title(title, fontsize=9)
        axes.set_xlabel(xlabel)
        axes.grid(axis="x", linewidth=0.5)
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.margins(x=0.08)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
    grid[0].set_yticks(range(len(methods)), methods)
    grid[0].set_ylim(len(methods) - 0.5, -0.5)
    return figure, hover


def diversity_chart(
    points: Sequence[tuple[str, str, float, float]], colours: Mapping[str, str], xlabel: str, ylabel: str
) -> tuple[Figure, dict[str, str]]:
    """Draw runs ``(method, name, x, y)`` as points, with the line of least squares through them."""
    figure = Figure(figsize=(4.6, 3.2), layout="constrained")
    axes = figure.add_subplot()
    methods, hover = list(colours), {}
    for number, (method, name, x, y) in enumerate(points):
        gid = f"{number}.m{methods.index(method)}"
        axes.plot(x, y, "o", color=colours[method], markersize=7, alpha=0.85, markeredgewidth=0, gid=gid)
        hover[gid] = f"{name}: {xlabel} {x:.2f}, {ylabel} {y:.3f}"
    across, up = [x for _, _, x, _ in points], [y for _, _, _, y in points]
    if len(points) > 2 and np.ptp(across) > 0:
        slope, start = np.polyfit(across, up, 1)
        ends = np.array([min(across), max(across)])
        axes.plot(ends, slope * ends + start, color=axes.spines["left"].get_edgecolor(), linewidth=1.2, linestyle="--")
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    bare(axes)
    return figure, hover


def band_chart(panels: Mapping[str, Mapping[str, Curve]], colours: Mapping[str, str]) -> tuple[Figure, dict[str, str]]:
    """Draw each method's curve with the band that its seeds fill, one panel beside the other."""
    columns = len(panels) if len(panels) <= MOST_COLUMNS else 2
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(min(3.9 * columns, 10.5), 2.6 * rows), layout="constrained")
    methods, hover = list(colours), {}
    last = max(curve.steps[-1] for panel in panels.values() for curve in panel.values())
    unit = 1e6 if last >= 1e5 else 1.0
    for number, (title, panel) in enumerate(panels.items()):
        axes = figure.add_subplot(rows, columns, number + 1)
        for label, curve in panel.items():
            across = np.asarray(curve.steps) / unit
            kind = f"m{methods.index(label)}"
            if curve.seeds > 1:
                gid = f"band-{number}-{kind}.{kind}"
                axes.fill_between(across, curve.low, curve.high, color=colours[label], alpha=0.16, linewidth=0, gid=gid)
                hover[gid] = f"{label}: all of {curve.seeds} seeds"
            gid = f"line-{number}-{kind}.{kind}"
            axes.plot(across, curve.middle, color=colours[label], linewidth=1.5, gid=gid)
            hover[gid] = (
                f"{label}: mean of {curve.seeds} seed{'s' * (curve.seeds > 1)}, at the end {curve.middle[-1]:.3f}"
            )
        axes.set_title(title, fontsize=9)
        axes.set_xlabel(f"{'million ' if unit > 1 else ''}environment steps")
        axes.xaxis.set_major_locator(MaxNLocator(5))
        bare(axes)
    return figure, hover


def bare(axes: Axes) -> None:
    """Leave a faint grid and no box."""
    axes.grid(linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
