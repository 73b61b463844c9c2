"""Statistics over seeds: rliable's interquartile mean and stratified bootstrap, and correlation.

Scores are matrices ``[runs, tasks]``: a run is a seed, a task is a teammate, and a cell is the mean over its episodes.
Episodes are no runs: stacked on that axis, they would make intervals far too narrow.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

REPETITIONS = 2000
CONFIDENCE = 0.95


class Estimate(NamedTuple):
    """A number and its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """Write it as in a table."""
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def as_scores(scores: ArrayLike) -> NDArray[np.float64]:
    """Check the shape ``[runs, tasks]``."""
    matrix = np.asarray(scores, dtype=np.float64)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(
            f"scores have shape {matrix.shape}: they must be [runs, tasks], episodes averaged within a cell"
        )
    return matrix


def interquartile_mean(scores: ArrayLike, repetitions: int = REPETITIONS, seed: int = 0) -> Estimate:
    """Mean of the middle half of all cells, with a bootstrap over runs that is stratified by task."""
    from rliable import metrics

    return bootstrap(as_scores(scores), metrics.aggregate_iqm, repetitions, seed)


def mean(scores: ArrayLike, repetitions: int = REPETITIONS, seed: int = 0) -> Estimate:
    """Mean of all cells, with the same bootstrap."""
    from rliable import metrics

    return bootstrap(as_scores(scores), metrics.aggregate_mean, repetitions, seed)


def bootstrap(scores: NDArray[np.float64], statistic: object, repetitions: int, seed: int) -> Estimate:
    """Estimate a statistic of scores ``[runs, tasks]``. One run says nothing about others: its interval is NaN."""
    from rliable import library

    if len(scores) == 1:
        return Estimate(float(statistic(scores)), np.nan, np.nan)  # type: ignore[operator]
    # rliable draws from numpy's global generator, whatever random state it is given.
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    try:
        points, intervals = library.get_interval_estimates(
            {"": scores},
            lambda matrix: np.array([statistic(matrix)]),  # type: ignore[operator]
            reps=repetitions,
            confidence_interval_size=CONFIDENCE,
        )
    finally:
        np.random.set_state(before)  # noqa: NPY002
    low, high = intervals[""][:, 0]
    return Estimate(float(points[""][0]), float(low), float(high))


def pearson(first: ArrayLike, second: ArrayLike) -> float:
    """Correlation of two series; NaN where one of them doesn't vary, or there are less than three points."""
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])
