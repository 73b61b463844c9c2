"""Learning curves of a game: what its runs logged while they trained, over seeds."""

from collections.abc import Sequence

import numpy as np

from brdiv.figures import Curve
from brdiv.report.results import GameResults
from brdiv.runs import RunFolder
from brdiv.runs.phases import read_scalars

PANELS = {
    "cross_play/mean_diagonal": "self-play return",
    "cross_play/mean_off_diagonal": "cross-play return",
    "cross_play/brdiv": "BRDiv",
    "plastic/mean_return": "PLASTIC's return with heuristics",
}
"""What is drawn, by the tag it is logged under."""

POINTS = 60


def learning_curves(results: GameResults) -> dict[str, dict[str, Curve]]:
    """Curve of every method by what it shows; what nobody logged is left out."""
    logged = {run.name: read_scalars(RunFolder(run.cell.run.path), list(PANELS)) for run in results.runs}
    panels: dict[str, dict[str, Curve]] = {}
    for tag, title in PANELS.items():
        for label in results.labels:
            seeds = [series for run in results.of(label) if len(series := logged[run.name].get(tag, [])) > 1]
            if seeds:
                panels.setdefault(title, {})[label] = curve(seeds)
    return panels


def curve(seeds: Sequence[Sequence[tuple[int, float]]]) -> Curve:
    """Put the series ``(step, value)`` of several seeds on common steps: their mean, the lowest and the highest.

    It ends where the shortest ends, and begins where all have begun.
    """
    start = max(series[0][0] for series in seeds)
    end = min(series[-1][0] for series in seeds)
    steps = np.linspace(start, max(start, end), POINTS)
    values = np.array(
        [np.interp(steps, [step for step, _ in series], [value for _, value in series]) for series in seeds]
    )
    return Curve(steps.tolist(), values.mean(0).tolist(), values.min(0).tolist(), values.max(0).tolist(), len(seeds))
