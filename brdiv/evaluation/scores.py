"""What an evaluation measured, and the aggregates that follow from it."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from brdiv.evaluation.bounds import regrets, shares
from brdiv.evaluation.statistics import NO_ESTIMATE, Estimate, interquartile_mean, mean, pearson


class Cell(NamedTuple):
    """One learner with one teammate, over all their episodes."""

    run: str
    method: str
    seed: int
    teammate: str
    task: str  # the column it counts in: its own if scripted, that of its method if generated
    seen: bool  # the learner was prepared with this very teammate, or its settings were chosen by it
    mean_return: float
    discounted_return: float
    mean_length: float
    episodes: int


class SelfPlay(NamedTuple):
    """What a run's own teams do."""

    run: str
    method: str
    seed: int
    brdiv: float
    shortest: float  # mean episode length of its quickest team
    longest: float
    recognised: list[float]  # share of episodes in which PLASTIC names its own teammate rightly, after each step


class Evaluation(NamedTuple):
    """Everything measured."""

    game: str
    cells: list[Cell]
    self_play: list[SelfPlay]  # of learners with a population of their own
    gamma: float
    bounds: Mapping[str, float] = {}  # what is possible in a task, where that is known

    @property
    def methods(self) -> list[str]:
        """Methods in the order they were given."""
        return list(dict.fromkeys(cell.method for cell in self.cells))

    @property
    def tasks(self) -> list[str]:
        """Tasks in the order they were given: a teammate each, or all teammates of a method."""
        return list(dict.fromkeys(cell.task for cell in self.cells))

    def runs(self, method: str) -> list[str]:
        """Runs of a method in the order they were given."""
        return list(dict.fromkeys(cell.run for cell in self.cells if cell.method == method))

    def score(self, run: str, task: str, value: str = "mean_return") -> float:
        """Mean of one run over the strangers of one task; NaN where it knows all of them."""
        found = [getattr(c, value) for c in self.cells if c.run == run and c.task == task and not c.seen]
        return float(np.mean(found)) if found else math.nan

    def scores(self, method: str, value: str = "mean_return") -> np.ndarray:
        """Scores ``[runs, tasks]`` of a method: seeds down, tasks across, each the mean over its strangers.

        A run's own teammates are no strangers to it. A task of which any run of the table knows everyone, its own
        method's where there is one seed, is left out for all: methods are compared on the same tasks.
        """
        runs, tasks = self.runs(method), self.common_tasks()
        columns = [[self.score(run, task, value) for run in runs] for task in tasks]
        return np.array(columns).reshape(len(tasks), len(runs)).T

    def common_tasks(self) -> list[str]:
        """Tasks in which every run meets strangers."""
        runs = dict.fromkeys(cell.run for cell in self.cells)
        return [task for task in self.tasks if not any(math.isnan(self.score(run, task)) for run in runs)]

    def summary(self) -> list[dict[str, Any]]:
        """Aggregates of every method over strangers and seeds."""
        return [self.summarise(method) for method in self.methods]

    def summarise(self, method: str) -> dict[str, Any]:
        """Aggregates of one method over strangers and seeds."""
        scores, discounted = self.scores(method), self.scores(method, "discounted_return")
        own = [entry for entry in self.self_play if entry.method == method]
        return {
            "method": method,
            "seeds": len(self.runs(method)),
            "tasks": scores.shape[1],
            "iqm": interquartile_mean(scores) if scores.size else NO_ESTIMATE,
            "mean": mean(scores) if scores.size else NO_ESTIMATE,
            # The paper's measure: expected discounted return with a teammate drawn uniformly.
            "robustness": mean(discounted) if scores.size else NO_ESTIMATE,
            "brdiv": float(np.mean([entry.brdiv for entry in own] or [math.nan])),
            "recognised": float(np.mean([e.recognised[-1] for e in own if e.recognised] or [math.nan])),
            "self_play_steps": [
                min((e.shortest for e in own), default=math.nan),
                max((e.longest for e in own), default=math.nan),
            ],
            **self.possible(method),
        }

    def possible(self, method: str) -> dict[str, float]:
        """Mean share of what is possible, and mean regret, over tasks whose bounds are known; nothing without any."""
        tasks = [task for task in self.common_tasks() if task in self.bounds]
        returns = {task: float(np.mean(self.cell_values(method, task))) for task in tasks}
        found = {"share": shares(returns, self.bounds), "regret": regrets(returns, self.bounds)}
        return {name: float(np.mean(list(values.values()))) for name, values in found.items() if values}

    def correlation(self) -> float:
        """Pearson correlation, over runs, of BRDiv with the mean return with strangers."""
        points = []
        for entry in self.self_play:
            own = [cell.mean_return for cell in self.cells if cell.run == entry.run and not cell.seen]
            if own:
                points.append((entry.brdiv, float(np.mean(own))))
        return pearson([brdiv for brdiv, _ in points], [value for _, value in points])

    def cell_values(self, method: str, task: str) -> list[float]:
        """Scores of a method's seeds in one task; seeds that know everyone of it left out."""
        return [value for run in self.runs(method) if not math.isnan(value := self.score(run, task))]

    def cell_estimate(self, method: str, task: str) -> Estimate:
        """Mean over seeds of a heatmap's cell, with its interval."""
        values = self.cell_values(method, task)
        return mean([[value] for value in values]) if values else NO_ESTIMATE
