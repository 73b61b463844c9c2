"""How populations come about: what teams earn with their own and with others, and how hard they were pushed apart."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from brdiv.text import for_figure


def phase_chart(runs: Mapping[str, Any], title: str = "") -> Figure:
    """Draw the mean diagonal and off-diagonal of every run (`Phases`), and below it the weight of cross-play."""
    with_weights = any(run.weights for run in runs.values())
    figure = Figure(figsize=(6.0, 4.6 if with_weights else 3.0), layout="constrained")
    heights = [2, 1] if with_weights else [1]
    panels = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for number, (label, run) in enumerate(runs.items()):
        colour = f"C{number % 10}"
        panels[0].plot(millions(run.steps), run.diagonal, color=colour, linewidth=1.2, label=for_figure(label))
        panels[0].plot(millions(run.steps), run.off_diagonal, color=colour, linewidth=1.2, linestyle="--")
        if with_weights:
            panels[1].plot(millions(run.weight_steps), run.weights, color=colour, linewidth=1.0)
    panels[0].set_ylim(-0.03, max(1.03, *(max(run.diagonal) * 1.03 for run in runs.values())))
    panels[0].set_ylabel("mean return\nline: own, dashes: others'")
    if with_weights:
        panels[1].set_ylabel("weight of cross-play\n(1: Eq. 6)")
        panels[1].set_ylim(bottom=0)
    panels[-1].set_xlabel("million environment steps")
    figure.suptitle(for_figure(title), fontsize=9)
    figure.legend(loc="outside right center", fontsize=8, frameon=False)
    return figure


def millions(steps: Sequence[int]) -> list[float]:
    """Count in millions."""
    return [step / 1e6 for step in steps]
