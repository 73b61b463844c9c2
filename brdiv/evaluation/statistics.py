"""Statistics over seeds: the interquartile mean with a stratified bootstrap (Agarwal et al., 2021), and correlation.

Scores are matrices ``[runs, tasks]``: a run is a seed, a task is a teammate, or all those of a method, and a cell is
the mean over its episodes. Episodes are no runs: stacked on that axis, they would make intervals far too narrow.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

REPETITIONS = 2000
CONFIDENCE = 0.95

Scores = NDArray[np.float64]


class Estimate(NamedTuple):
    """A number and its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """Write it as in a table: without an interval where there is none, a dash where there is no figure."""
        if np.isnan(self.value):
            return "-"
        if np.isnan(self.low):
            return f"{self.value:.3f}"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


NO_ESTIMATE = Estimate(np.nan, np.nan, np.nan)


def interquartile_mean(scores: ArrayLike, repetitions: int = REPETITIONS, seed: int = 0) -> Estimate:
    """Mean of the middle half of all cells ``[runs, tasks]``, with its interval."""
    return bootstrap(as_scores(scores), middle_half_mean, repetitions, seed)


def mean(scores: ArrayLike, repetitions: int = REPETITIONS, seed: int = 0) -> Estimate:
    """Mean of all cells ``[runs, tasks]``, with its interval."""
    return bootstrap(as_scores(scores), lambda cells: cells.mean(-1), repetitions, seed)


def middle_half_mean(cells: Scores) -> Scores:
    """Mean ``[...]`` of ``cells [..., N]`` without the lowest and the highest quarter, both rounded down."""
    count = cells.shape[-1]
    left_out = count // 4
    middle = np.sort(cells, -1)[..., left_out : count - left_out]
    return np.asarray(middle.mean(-1))


def bootstrap(scores: Scores, statistic: Callable[[Scores], Scores], repetitions: int, seed: int) -> Estimate:
    """Estimate a statistic of the cells of ``scores [runs, tasks]``, with a percentile interval.

    Runs are drawn anew with replacement, independently in every task: that is the stratification. One run says
    nothing about others, so its interval is NaN. ``statistic`` maps ``[..., cells]`` to ``[...]``.
    """
    runs, tasks = scores.shape
    value = float(statistic(scores.reshape(-1)))
    if runs == 1:
        return Estimate(value, np.nan, np.nan)
    drawn = np.random.default_rng(seed).integers(runs, size=(repetitions, runs, tasks))
    values = statistic(np.take_along_axis(scores[None], drawn, 1).reshape(repetitions, -1))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return Estimate(value, float(low), float(high))


def as_scores(scores: ArrayLike) -> Scores:
    """Check the shape ``[runs, tasks]``."""
    matrix = np.asarray(scores, dtype=np.float64)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(
            f"scores have shape {matrix.shape}: they must be [runs, tasks], episodes averaged within a cell"
        )
    return matrix


def pearson(first: ArrayLike, second: ArrayLike) -> float:
    """Correlation of two series; NaN where one of them doesn't vary, or there are less than three points."""
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])
