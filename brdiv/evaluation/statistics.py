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
    value = float(statistic(scores.reshape(-1)))
    if len(scores) == 1:
        return Estimate(value, np.nan, np.nan)
    return Estimate(value, *percentiles(resampled(scores, statistic, repetitions, np.random.default_rng(seed))))


def resampled(
    scores: Scores, statistic: Callable[[Scores], Scores], repetitions: int, generator: np.random.Generator
) -> Scores:
    """Take a statistic of ``scores [runs, tasks]`` so often, each time of runs drawn anew: ``[repetitions]``."""
    runs, tasks = scores.shape
    drawn = generator.integers(runs, size=(repetitions, runs, tasks))
    return statistic(np.take_along_axis(scores[None], drawn, 1).reshape(repetitions, -1))


def percentiles(values: Scores) -> tuple[float, float]:
    """Ends of the interval that holds the middle 95 % of ``values [N]``."""
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return float(low), float(high)


def difference(
    first: ArrayLike,
    second: ArrayLike,
    statistic: Callable[[Scores], Scores] = middle_half_mean,
    repetitions: int = REPETITIONS,
    seed: int = 0,
) -> Estimate:
    """By how much a statistic, the interquartile mean if none is named, of one method's cells exceeds another's.

    Both are ``[runs, tasks]``, of the same tasks or not. Runs of both are drawn anew, independently of each other.
    """
    sides = as_scores(first), as_scores(second)
    values = [float(statistic(scores.reshape(-1))) for scores in sides]
    if any(len(scores) == 1 for scores in sides):
        return Estimate(values[0] - values[1], np.nan, np.nan)
    generator = np.random.default_rng(seed)
    drawn = [resampled(scores, statistic, repetitions, generator) for scores in sides]
    return Estimate(values[0] - values[1], *percentiles(drawn[0] - drawn[1]))


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


def correlation(first: ArrayLike, second: ArrayLike, repetitions: int = REPETITIONS, seed: int = 0) -> Estimate:
    """Correlation of two series ``[points]`` with its interval, points drawn anew; without one for less than five.

    Draws in which a series doesn't vary have no correlation, and are left out.
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    value = pearson(x, y)
    if np.isnan(value) or len(x) < 5:
        return Estimate(value, np.nan, np.nan)
    drawn = np.random.default_rng(seed).integers(len(x), size=(repetitions, len(x)))
    a, b = (series[drawn] - series[drawn].mean(-1, keepdims=True) for series in (x, y))
    scale = np.sqrt((a**2).sum(-1) * (b**2).sum(-1))
    return Estimate(value, *percentiles((a * b).sum(-1)[scale > 0] / scale[scale > 0]))


def share(count: int, total: int) -> Estimate:
    """Share of cases in which something happened, with Wilson's interval.

    >>> print(share(5, 5))
    1.000 [0.566, 1.000]
    """
    if not total:
        return NO_ESTIMATE
    z, p = 1.959964, count / total
    middle = (p + z**2 / (2 * total)) / (1 + z**2 / total)
    half = z / (1 + z**2 / total) * float(np.sqrt(p * (1 - p) / total + z**2 / (4 * total**2)))
    return Estimate(p, max(0.0, middle - half), min(1.0, middle + half))
