"""Statistics against rliable called directly, and whether 95 % intervals cover 95 %."""

import math

import numpy as np
import pytest
from rliable import library, metrics
from scipy import stats

from brdiv.evaluation.statistics import correlation, difference, interquartile_mean, mean, pearson, share


def rliables(scores, statistic, repetitions):
    points, intervals = library.get_interval_estimates(
        {"x": scores}, lambda x: np.array([statistic(x)]), reps=repetitions
    )
    return points["x"][0], *intervals["x"][:, 0]


@pytest.mark.parametrize(("runs", "tasks"), [(5, 11), (3, 1), (10, 4)])
@pytest.mark.parametrize("ours", [interquartile_mean, mean])
def test_estimates_are_rliables(runs, tasks, ours):
    scores = np.random.default_rng(0).random((runs, tasks))
    statistic = metrics.aggregate_iqm if ours is interquartile_mean else metrics.aggregate_mean
    np.random.seed(3)  # noqa: NPY002
    value, low, high = rliables(scores, statistic, 20_000)
    estimate = ours(scores, repetitions=20_000)
    assert estimate.value == pytest.approx(value)
    # Both draw their own 20,000 resamples, so ends differ with a standard deviation of 0.7 % of the interval.
    assert estimate.low == pytest.approx(low, abs=0.028 * (high - low))
    assert estimate.high == pytest.approx(high, abs=0.028 * (high - low))
    assert estimate.low < estimate.value < estimate.high


def test_the_interquartile_mean_leaves_out_a_quarter_at_each_end_of_all_cells():
    """Of eleven cells two are left out at either end, whichever seed or task they come from."""
    assert interquartile_mean([[0, 1, 2, 3, 4, 5, 6, 7, 8, 99, 100]]).value == pytest.approx(5.0)
    assert interquartile_mean([[-50.0, 4.0], [6.0, 1000.0]]).value == pytest.approx(5.0)


def test_95_percent_intervals_cover_about_95_percent():
    """Ten seeds of three teammates whose means differ: the interval should hold the mean over teammates."""
    generator = np.random.default_rng(1)
    truth = np.array([0.2, 0.5, 0.8])
    hits = 0
    for trial in range(300):
        estimate = mean(truth + 0.1 * generator.standard_normal((10, 3)), repetitions=200, seed=trial)
        hits += estimate.low <= truth.mean() <= estimate.high
    # A bootstrap of ten runs is a little too narrow; 300 trials have a standard error of 1.3 %.
    assert 0.88 <= hits / 300 <= 0.98


def test_episodes_on_the_run_axis_are_too_narrow_and_refused():
    """The mistake that the shape guards against: episodes of one seed say nothing about other seeds."""
    generator = np.random.default_rng(2)
    seeds = 0.5 + 0.2 * generator.standard_normal((5, 1, 1))
    episodes = seeds + 0.1 * generator.standard_normal((5, 4, 64))
    right = mean(episodes.mean(-1))
    wrong = mean(episodes.transpose(0, 2, 1).reshape(-1, 4))
    assert wrong.high - wrong.low < 0.4 * (right.high - right.low)
    with pytest.raises(ValueError, match="runs, tasks"):
        mean(episodes)


def test_one_seed_has_no_interval():
    estimate = interquartile_mean(np.array([[0.0, 0.5, 0.5, 1.0]]))
    assert estimate.value == pytest.approx(0.5)
    assert math.isnan(estimate.low)
    assert math.isnan(estimate.high)


def test_correlation():
    assert pearson([1, 2, 3], [2, 4, 6]) == pytest.approx(1.0)
    assert pearson([1, 2, 3], [3, 2, 1]) == pytest.approx(-1.0)
    assert math.isnan(pearson([1, 2], [1, 2]))
    assert math.isnan(pearson([1, 1, 1], [1, 2, 3]))


def test_estimates_repeat_and_leave_numpys_generator_alone():
    scores = np.random.default_rng(0).random((4, 3))
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    assert interquartile_mean(scores, 100) == interquartile_mean(scores, 100)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


def test_a_difference_is_that_of_both_and_its_interval_that_of_two_independent_samples():
    generator = np.random.default_rng(4)
    first, second = 0.6 + 0.1 * generator.standard_normal((40, 1)), 0.5 + 0.2 * generator.standard_normal((60, 1))
    found = difference(first, second, lambda cells: cells.mean(-1), repetitions=20_000)
    assert found.value == pytest.approx(first.mean() - second.mean())
    half = 1.96 * math.sqrt(first.var() / 40 + second.var() / 60)
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.05)
    assert difference([[0.2, 0.4]], [[0.1, 0.1]]).value == pytest.approx(0.2)
    assert math.isnan(difference([[0.2, 0.4]], second).low)  # one run says nothing about others


def test_the_interval_of_a_correlation_is_about_fishers():
    generator = np.random.default_rng(5)
    x = generator.standard_normal(300)
    y = 0.8 * x + 0.6 * generator.standard_normal(300)
    found = correlation(x, y, repetitions=10_000)
    assert found.value == pytest.approx(pearson(x, y))
    z = math.atanh(found.value)
    assert found.low == pytest.approx(math.tanh(z - 1.96 / math.sqrt(297)), abs=0.01)
    assert found.high == pytest.approx(math.tanh(z + 1.96 / math.sqrt(297)), abs=0.01)


def test_a_correlation_of_few_points_or_of_none_that_vary_has_no_interval():
    assert correlation([1, 2, 3, 4], [2, 4, 6, 9]).value > 0.9
    assert math.isnan(correlation([1, 2, 3, 4], [2, 4, 6, 9]).low)
    assert math.isnan(correlation([1] * 9, range(9)).value)


@pytest.mark.parametrize(("count", "total"), [(0, 5), (3, 5), (5, 5), (19, 20)])
def test_the_interval_of_a_share_is_wilsons(count, total):
    expected = stats.binomtest(count, total).proportion_ci(method="wilson")
    assert share(count, total) == pytest.approx((count / total, expected.low, expected.high), abs=1e-6)
