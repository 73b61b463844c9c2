"""What a study found about one game: its populations, and its learners with strangers."""

import math
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any, NamedTuple

import numpy as np

from brdiv.errors import UserError
from brdiv.evaluation.bounds import bounds_of
from brdiv.evaluation.scores import Cell, Evaluation, SelfPlay
from brdiv.evaluation.statistics import NO_ESTIMATE, Estimate, correlation, interquartile_mean
from brdiv.metrics import best_response_diversity, interchangeable_groups, mean_diagonal, mean_off_diagonal
from brdiv.report.measured import (
    Matrix,
    Score,
    TeamWay,
    read_matrices,
    read_own_matrix,
    read_scores,
    read_strategies,
)
from brdiv.report.study import DONE, Study, StudyCell
from brdiv.runs.described_game import make_game

HEURISTICS, GENERATED = "heuristics", "generated"
PLASTIC = "plastic"  # the paper's learner, which stands first; claims are about it


class RunResult(NamedTuple):
    """One population."""

    cell: StudyCell
    label: str
    matrix: Matrix
    ways: list[TeamWay]

    @property
    def name(self) -> str:
        """Name the run within its game."""
        return run_name(self.label, self.cell.seed)

    @property
    def n_types(self) -> int:
        """How many teams there are."""
        return len(self.matrix.returns)

    @property
    def brdiv(self) -> float:
        """Best-Response Diversity (Eq. 6)."""
        return float(best_response_diversity(self.matrix.returns))

    @property
    def diagonal(self) -> float:
        """Mean return of teams."""
        return float(mean_diagonal(self.matrix.returns))

    @property
    def off_diagonal(self) -> float:
        """Mean return of teammates with other teams' best responses."""
        return float(mean_off_diagonal(self.matrix.returns))

    @property
    def groups(self) -> list[list[int]]:
        """Teams that can stand in for each other, counted from 1; a team that has not learned the game is in none."""
        return [[team + 1 for team in group] for group in interchangeable_groups(self.matrix.returns)]

    @property
    def steps_to_solve(self) -> list[float]:
        """Mean episode length of each team that has learned the game."""
        lengths = self.matrix.lengths.diagonal().tolist()
        return [lengths[team - 1] for group in self.groups for team in group]

    @property
    def strategies(self) -> int | None:
        """How many distinct ways of winning its teams have; None where nothing says so."""
        named = {way.strategy for way in self.ways if way.strategy}
        return len(named) if self.ways else None


class GameResults(NamedTuple):
    """All about one game."""

    game: str  # stem of its config
    title: str  # name of its class, or the stem where no run says it
    methods: dict[str, str]  # labels by stem, in the study's order
    cells: list[StudyCell]
    runs: list[RunResult]  # finished ones
    evaluations: dict[tuple[str, str], Evaluation]  # by learner and scenario
    learner_cells: list[StudyCell] = []  # noqa: RUF012
    learner_labels: dict[str, str] = {}  # noqa: RUF012 - of those that are trained, by stem

    @property
    def labels(self) -> list[str]:
        """Methods as they are called in tables."""
        return list(self.methods.values())

    @property
    def learners(self) -> list[str]:
        """Learners that met strangers, PLASTIC first."""
        found = dict.fromkeys(learner for learner, _ in self.evaluations)
        return sorted(found, key=lambda name: name.lower() != PLASTIC)

    def learner_label(self, learner: str) -> str:
        """Name a learner as its paper does."""
        return self.learner_labels.get(learner, "PLASTIC" if learner == PLASTIC else learner)

    def of(self, label: str) -> list[RunResult]:
        """Finished runs of a method."""
        return [run for run in self.runs if run.label == label]

    def evaluation(self, scenario: str, learner: str | None = None) -> Evaluation | None:
        """What a learner, PLASTIC if none is named, earned with one kind of strangers; None where it met none."""
        if learner is None and self.learners:
            learner = self.learners[0]
        return self.evaluations.get((learner or "", scenario))

    def objectives(self) -> dict[str, str]:
        """Class of each method by its label; methods of which no run has finished are left out."""
        return {self.methods[cell.method]: cell.objective for cell in self.cells if cell.objective}


def run_name(label: str, seed: int) -> str:
    """Name a run within its game."""
    return f"{label} seed {seed}"


def read_game(study: Study, game: str) -> GameResults:
    """Read all that a study measured on one game."""
    methods = study.labels(game)
    cells = [cell for cell in study.cells if cell.game == game]
    matrices = read_matrices(study.evaluation(game, "cross_play"))
    ways = read_strategies(study.evaluation(game, "strategies"))
    runs = []
    for cell in cells:
        key = cell.method, cell.seed
        matrix = (matrices.get(key) or read_own_matrix(cell.run)) if cell.state == DONE else None
        if matrix is not None:
            runs.append(RunResult(cell, methods[cell.method], matrix, ways.get(key, [])))
    title = next((str(cell.about["game"]["name"]) for cell in cells if cell.about.get("game")), game)
    scores = read_scores(study.evaluation(game, "episodes"))
    pairs = dict.fromkeys((score.learner, score.scenario) for score in scores)
    bounds = next((known_bounds(cell.about["game"]) for cell in cells if cell.about.get("game")), {})
    evaluations = {pair: as_evaluation(title, pair, scores, methods, runs, bounds) for pair in pairs}
    trained = [cell for cell in study.learner_cells if cell.game == game]
    return GameResults(game, title, methods, cells, runs, evaluations, trained, study.learner_labels(game))


def known_bounds(about: Mapping[str, Any]) -> dict[str, float]:
    """Return what is possible with each heuristic of a game as a file describes it; nothing where it describes none."""
    try:
        return bounds_of(make_game(about, allow_imports=False))
    except UserError:
        return {}


def as_evaluation(
    title: str,
    pair: tuple[str, str],
    scores: Sequence[Score],
    methods: dict[str, str],
    runs: Sequence[RunResult],
    bounds: Mapping[str, float],
) -> Evaluation:
    """Sort the scores of a learner in one scenario as `brdiv evaluate` does, so that its statistics apply."""
    _, scenario = pair
    mine = [score for score in scores if (score.learner, score.scenario) == pair and score.method in methods]
    order = list(methods)
    mine.sort(key=lambda score: (order.index(score.method), score.seed))
    cells = [
        Cell(
            run_name(methods[score.method], score.seed),
            methods[score.method],
            score.seed,
            score.task,
            methods.get(score.task, score.task) if scenario == GENERATED else score.task,
            False,
            score.mean_return,
            math.nan,
            math.nan,
            0,
        )
        for score in mine
    ]
    self_play = [
        SelfPlay(run.name, run.label, run.cell.seed, run.brdiv, *ends(run.steps_to_solve), recognised=[])
        for run in runs
    ]
    return Evaluation(title, cells, self_play, math.nan, bounds if scenario == HEURISTICS else {})


def ends(values: Sequence[float]) -> tuple[float, float]:
    """Least and greatest."""
    return (min(values), max(values)) if values else (math.nan, math.nan)


def aggregate(evaluation: Evaluation | None, label: str) -> Estimate:
    """Interquartile mean of a method over seeds and the tasks that all runs share."""
    if evaluation is None or label not in evaluation.methods:
        return NO_ESTIMATE
    scores = evaluation.scores(label)
    return interquartile_mean(scores) if scores.size else NO_ESTIMATE


class Point(NamedTuple):
    """A run in the figure of diversity and return."""

    run: RunResult
    brdiv: float
    mean_return: float


def diversity_and_return(results: GameResults, scenario: str = HEURISTICS) -> tuple[list[Point], Estimate]:
    """BRDiv and mean return with strangers of every run, and how they correlate."""
    evaluation = results.evaluation(scenario)
    if evaluation is None:
        return [], NO_ESTIMATE
    returns: dict[str, list[float]] = {}
    for cell in evaluation.cells:
        returns.setdefault(cell.run, []).append(cell.mean_return)
    points = [Point(run, run.brdiv, mean(returns[run.name])) for run in results.runs if run.name in returns]
    found = correlation([p.brdiv for p in points], [p.mean_return for p in points])
    return points, found


def typical(runs: Sequence[RunResult], count: int) -> list[RunResult]:
    """Runs whose BRDiv is nearest to the median of their method, so many."""
    if not runs:
        return []
    middle = float(np.median([run.brdiv for run in runs]))
    return sorted(runs, key=lambda run: (abs(run.brdiv - middle), run.cell.seed))[:count]
