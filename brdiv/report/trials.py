"""The tests that a study puts the paper's claims to: functions of a game's results and the label of our method."""

from collections.abc import Callable, Sequence

import numpy as np

from brdiv.evaluation.scores import Evaluation
from brdiv.evaluation.statistics import Estimate, correlation, difference, share
from brdiv.report.claims import (
    FAILS,
    HOLDS,
    LEAST_SEEDS,
    OPEN,
    Verdict,
    above_all,
    baselines,
    judge,
    listed,
    opposite,
    our_label,
    unknown,
)
from brdiv.report.results import GENERATED, HEURISTICS, GameResults, Point, aggregate, diversity_and_return

STRONG = 0.5
"""From here on a correlation is called strong."""

ABLATION, EXCEPTIONS, N_GAMES = "Independent", 3, 3
"""The paper's ablation, and with how many heuristics of how many games it is the better one there."""

Trial = Callable[[GameResults, str], Verdict]


def others_scores(evaluation: Evaluation, labels: Sequence[str]) -> dict[str, np.ndarray]:
    """Scores ``[runs, tasks]`` of some methods; empty for one that was not evaluated."""
    return {label: evaluation.scores(label) for label in labels}


def best(scenario: str) -> Trial:
    """Test whether our learner's interquartile mean lies above every baseline's."""

    def test(results: GameResults, ours: str) -> Verdict:
        evaluation = results.evaluation(scenario)
        if evaluation is None:
            return unknown(f"no learner has met {'generated teammates' if scenario == GENERATED else 'heuristics'}")
        present, missing = baselines(results)
        return above_all(evaluation.scores(ours), others_scores(evaluation, present), missing)

    return test


def not_best(scenario: str) -> Trial:
    """Test whether some baseline's interquartile mean lies above our learner's."""

    def test(results: GameResults, ours: str) -> Verdict:
        verdict = best(scenario)(results, ours)
        return verdict._replace(verdict=opposite(verdict.verdict))

    return test


def narrowest(results: GameResults, ours: str) -> Verdict:
    """Test whether our learner's interval is narrower than those of the baselines: than all, or less than half."""
    evaluation = results.evaluation(HEURISTICS)
    present, missing = baselines(results)
    widths = {label: (e := aggregate(evaluation, label)).high - e.low for label in [ours, *present]}
    mine = widths.pop(ours)
    seeds = min(len(results.of(label)) for label in [ours, *present])
    if seeds < LEAST_SEEDS:
        return unknown(f"{seeds} seeds: too few, {LEAST_SEEDS} are needed")
    widths = {label: width for label, width in widths.items() if not np.isnan(width)}
    if np.isnan(mine) or not widths:
        return unknown("no intervals to compare")
    wider = sum(width > mine for width in widths.values())
    found = f"{mine:.3f} wide, narrower than {wider} of {len(widths)} baselines ({min(widths.values()):.3f} to "
    found += f"{max(widths.values()):.3f})"
    whole = len(widths) == len(present) and not missing
    return Verdict(HOLDS if wider == len(widths) and whole else FAILS if wider < len(widths) / 2 else OPEN, found)


def best_with_each(*excepted: str) -> Trial:
    """Test whether our learner earns most with every heuristic but these."""

    def test(results: GameResults, ours: str) -> Verdict:
        evaluation = results.evaluation(HEURISTICS)
        present, missing = baselines(results)
        if evaluation is None or ours not in evaluation.methods:
            return unknown("no learner has met heuristics")
        missing += [label for label in present if label not in evaluation.methods]
        present = [label for label in present if label in evaluation.methods]
        beaten, clearly = [], []
        for task in evaluation.tasks:
            mine = evaluation.cell_values(ours, task)
            rivals = {label: values for label in present if (values := evaluation.cell_values(label, task))}
            above = [label for label, values in rivals.items() if mine and np.mean(values) > np.mean(mine)]
            beaten += [task] if above else []
            clearly += [task] if any(judge(gap(rivals[label], mine)) == HOLDS for label in above) else []
        unexpected = [task for task in beaten if task not in excepted]
        found = f"highest mean with {len(evaluation.tasks) - len(beaten)} of {len(evaluation.tasks)} heuristics"
        found += f"; not with {listed(beaten)}" if beaten else ""
        found += f" (intervals apart: {listed(clearly)})" if clearly else ""
        found += f"; not compared with {listed(missing)}" if missing else ""
        if any(task in clearly for task in unexpected):
            return Verdict(FAILS, found)
        enough = not missing and len(evaluation.runs(ours)) > 1 and present
        return Verdict(HOLDS if enough and not unexpected else OPEN, found)

    return test


def gap(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """Estimate by how much the mean of some runs exceeds that of others."""
    return difference([[value] for value in first], [[value] for value in second], lambda cells: cells.mean(-1))


LEAST_RUNS = 10
"""With fewer runs a correlation's bootstrap interval is too narrow to be believed."""


def correlated(results: GameResults, ours: str) -> Verdict:
    """Test whether BRDiv and return with heuristics correlate strongly over all runs."""
    points, found = diversity_and_return(results)
    if np.isnan(found.value):
        return unknown(f"{len(points)} runs have both figures")
    return Verdict(judge_correlation(found, len(points), STRONG), f"r = {of_runs(found, points)}", found, STRONG)


def judge_correlation(found: Estimate, runs: int, bound: float = 0.0) -> str:
    """Whether a correlation lies above a bound, if there are enough runs to tell."""
    return judge(found, bound) if runs >= LEAST_RUNS else OPEN


def of_runs(found: Estimate, points: Sequence[Point]) -> str:
    """Write a correlation with the number of its runs."""
    few = f": too few, {LEAST_RUNS} are needed" if len(points) < LEAST_RUNS else ""
    return f"{found} over {len(points)} runs{few}"


def distinct_teams(what: str) -> Trial:
    """Test whether in most seeds every team has a strategy of its own."""

    def test(results: GameResults, ours: str) -> Verdict:
        told = [run for run in results.of(ours) if run.strategies is not None]
        if not told:
            return unknown("no strategies were told apart")
        whole = sum(run.strategies == run.n_types for run in told)
        seeds = share(whole, len(told))
        return Verdict(judge(seeds, 0.5), f"{what} in {whole} of {len(told)} seeds", seeds, 0.5)

    return test


def more_diverse(results: GameResults, ours: str) -> Verdict:
    """Test whether our populations have a higher BRDiv than every baseline's."""
    present, missing = baselines(results)
    values = {label: np.array([[run.brdiv] for run in results.of(label)]) for label in [ours, *present]}
    mine = values.pop(ours)
    verdict = above_all(mine, values, missing, digits=1)
    alike = [run for label in present for run in results.of(label) if len(run.groups) < run.n_types]
    total = sum(len(results.of(label)) for label in present)
    return verdict._replace(
        found=f"{verdict.found}; teams that can stand in for each other, or don't play, in {len(alike)} of {total} "
        "baselines' runs"
    )


def quickest(results: GameResults, ours: str) -> Verdict:
    """Test whether our teams need fewer steps in self-play than every baseline's."""
    present, missing = baselines(results)
    values = {
        label: np.array([[np.mean(run.steps_to_solve)] for run in results.of(label) if run.steps_to_solve])
        for label in [ours, *present]
    }
    mine = values.pop(ours)
    steps = [step for run in results.of(ours) for step in run.steps_to_solve]
    verdict = above_all(mine, values, missing, sign=-1.0, digits=1)
    return verdict._replace(found=f"{min(steps):.0f} to {max(steps):.0f} steps; {verdict.found}") if steps else verdict


def slow_teams_help(results: GameResults, ours: str) -> Verdict:
    """Test whether, over runs, learners earn more with heuristics the slower the teams are they were prepared with."""
    points, _ = diversity_and_return(results)
    points = [point for point in points if point.run.steps_to_solve]
    slow = [float(np.mean(point.run.steps_to_solve)) for point in points]
    found = correlation(slow, [point.mean_return for point in points])
    if np.isnan(found.value):
        return unknown(f"{len(points)} runs have both figures")
    verdict = judge_correlation(found, len(points))
    return Verdict(verdict, f"r of steps and return = {of_runs(found, points)}", found)


def above_independent(games: Sequence[GameResults]) -> Verdict:
    """Test whether our learner earns more than the ablation's with all heuristics of all games but three."""
    below, clearly, total, seen = [], [], 0, 0
    for results in games:
        evaluation, ours = results.evaluation(HEURISTICS), our_label(results)
        if evaluation is None or ours is None or not {ours, ABLATION} <= set(evaluation.methods):
            continue
        seen += 1
        for task in evaluation.common_tasks():
            total += 1
            estimate = gap(evaluation.cell_values(ours, task), evaluation.cell_values(ABLATION, task))
            below += [f"{results.title} {task}"] if estimate.value <= 0 else []
            clearly += [task] if judge(estimate) == FAILS else []
    if not total:
        return unknown("the two were not evaluated with heuristics")
    found = f"above with {total - len(below)} of {total} heuristics" + (f"; not with {listed(below)}" if below else "")
    whole = seen == len(games) and seen == N_GAMES
    found += "" if whole else f"; {seen} of {N_GAMES} games"
    return Verdict(FAILS if len(clearly) > EXCEPTIONS else HOLDS if len(below) <= EXCEPTIONS and whole else OPEN, found)
