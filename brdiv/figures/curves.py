"""Curves: how soon teammates are known, what a learner believes, how training scales."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from brdiv.figures.image import policy_name
from brdiv.text import for_figure


def recognition_chart(curves: Mapping[str, Sequence[Sequence[float]]], title: str = "") -> Figure:
    """Draw how soon learners know their own teammates: for each method the curves of its seeds, over steps."""
    figure = Figure(figsize=(5.2, 3.0), layout="constrained")
    axes = figure.add_subplot()
    for number, (method, seeds) in enumerate(curves.items()):
        for curve in seeds:
            axes.plot(range(1, len(curve) + 1), curve, color=f"C{number}", alpha=0.6, linewidth=1)
        axes.plot([], [], color=f"C{number}", label=for_figure(method))
    axes.set_ylim(0, 1.02)
    axes.set_xscale("log")
    axes.set_xlabel("step")
    axes.set_ylabel("teammate named rightly")
    axes.set_title(for_figure(title), fontsize=9)
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
    axes.set_title(for_figure(title), fontsize=9)
    figure.legend(loc="outside right center", fontsize=8, frameon=False)
    return figure


def scaling_chart(by_rows: Mapping[str, Sequence[Any]], by_types: Sequence[Any]) -> Figure:
    """Draw steps per second and peak memory over rows, a curve per label, and time per update over population sizes."""
    figure = Figure(figsize=(10.5, 3.0), layout="constrained")
    speed, memory, types = figure.subplots(1, 3)
    for label, points in by_rows.items():
        rows = [point.rows for point in points]
        speed.plot(rows, [point.env_steps_per_second for point in points], marker="o", label=label)
        memory.plot(rows, [point.peak_memory_mib for point in points], marker="o", label=label)
    for axes, what in ((speed, "environment steps per second"), (memory, "peak memory (MiB)")):
        axes.set_xscale("log")
        axes.set_xlabel("rows")
        axes.set_ylabel(what)
        axes.set_ylim(bottom=0)
        axes.legend(fontsize=8, frameon=False)
    sizes = [point.n_types for point in by_types]
    types.plot(sizes, [point.milliseconds_per_update for point in by_types], marker="o")
    types.set_xlabel("teammates, K")
    types.set_ylabel("ms per update")
    types.set_xlim(left=0)
    types.set_ylim(bottom=0)
    return figure
