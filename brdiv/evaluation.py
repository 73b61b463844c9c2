"""How robust learners are who were prepared with generated teammates: PLASTIC against strangers, cell by cell."""

import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from brdiv.beliefs import beliefs_in
from brdiv.envs import ForeignGame, Task
from brdiv.match import all_pairs, play_pairs
from brdiv.metrics import best_response_diversity
from brdiv.nets import Population
from brdiv.plastic import Plastic
from brdiv.play import GAMMA, cross_play
from brdiv.populations import load_population
from brdiv.stats import Estimate, interquartile_mean, mean, pearson
from brdiv.teammates import LearnedPolicies, SeveralPolicies, heuristics_of

FILE = "population.safetensors"


class EvaluationError(ValueError):
    """Why an evaluation can't be done, in one line."""


class Run(NamedTuple):
    """A population and where it comes from."""

    name: str
    path: Path
    method: str
    seed: int
    population: Population
    game: Task
    sha256: str


class Cell(NamedTuple):
    """One learner with one teammate, over all their episodes."""

    run: str
    method: str
    seed: int
    teammate: str
    task: str  # what it counts as: itself if scripted, all of its method's if generated
    seen: bool  # the learner was prepared with this very teammate
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
    self_play: list[SelfPlay]
    gamma: float

    @property
    def methods(self) -> list[str]:
        """Methods in the order they were given."""
        return list(dict.fromkeys(cell.method for cell in self.cells))

    @property
    def tasks(self) -> list[str]:
        """Tasks in the order they were given."""
        return list(dict.fromkeys(cell.task for cell in self.cells))

    def scores(self, method: str, value: str = "mean_return") -> np.ndarray:
        """Scores ``[runs, tasks]`` of a method: seeds down, tasks across, each the mean over its strangers.

        A run's own teammates are no strangers to it. A task of which a run knows everyone, its own method's where there
        is one seed, is left out.
        """
        runs = list(dict.fromkeys(cell.run for cell in self.cells if cell.method == method))
        columns = []
        for task in self.tasks:
            column = [self.score(run, task, value) for run in runs]
            if not any(math.isnan(entry) for entry in column):
                columns.append(column)
        return np.array(columns).reshape(len(columns), len(runs)).T

    def score(self, run: str, task: str, value: str) -> float:
        """Mean of one run over the strangers of one task."""
        found = [getattr(c, value) for c in self.cells if c.run == run and c.task == task and not c.seen]
        return float(np.mean(found)) if found else math.nan

    def summary(self) -> list[dict[str, Any]]:
        """One entry a method: aggregates over strangers and seeds."""
        found = []
        for method in self.methods:
            scores, discounted = self.scores(method), self.scores(method, "discounted_return")
            own = [entry for entry in self.self_play if entry.method == method]
            nobody = Estimate(math.nan, math.nan, math.nan)
            found.append(
                {
                    "method": method,
                    "seeds": len(own),
                    "tasks": scores.shape[1],
                    "iqm": interquartile_mean(scores) if scores.size else nobody,
                    "mean": mean(scores) if scores.size else nobody,
                    # The paper's measure: expected discounted return with a teammate drawn uniformly.
                    "robustness": mean(discounted) if scores.size else nobody,
                    "brdiv": float(np.mean([entry.brdiv for entry in own])),
                    "recognised": float(np.mean([e.recognised[-1] for e in own if e.recognised] or [math.nan])),
                    "self_play_steps": [min(e.shortest for e in own), max(e.longest for e in own)],
                }
            )
        return found

    def correlation(self) -> float:
        """Pearson correlation, over runs, of BRDiv with the mean return with strangers."""
        points = []
        for entry in self.self_play:
            own = [cell.mean_return for cell in self.cells if cell.run == entry.run and not cell.seen]
            if own:
                points.append((entry.brdiv, float(np.mean(own))))
        return pearson([brdiv for brdiv, _ in points], [value for _, value in points])

    def cell_values(self, method: str, task: str) -> list[float]:
        """Scores of a method's seeds in one task; seeds that know everyone of the task left out."""
        runs = dict.fromkeys(cell.run for cell in self.cells if cell.method == method)
        return [value for run in runs if not math.isnan(value := self.score(run, task, "mean_return"))]

    def cell_estimate(self, method: str, task: str) -> Estimate:
        """Mean over seeds of a heatmap's cell, with its interval."""
        values = self.cell_values(method, task)
        return mean([[value] for value in values]) if values else Estimate(math.nan, math.nan, math.nan)


def load_runs(paths: Sequence[Path], allow_imports: bool = False) -> list[Run]:
    """Load populations from files, run folders, or folders of runs; all of one game.

    What an interrupted run left in a folder is passed over; named itself, it is taken.
    """
    loaded = {}
    for path in paths:
        for file in find_files(path):
            saved = load_population(file, allow_imports)
            if saved.about.get("finished", True) or path in {file, file.parent}:
                loaded[file] = saved
            else:
                print(f"left out: {file}, whose run was cut short", file=sys.stderr)
    if not loaded:
        raise EvaluationError("no finished run among these")
    labels = method_labels([saved.about for saved in loaded.values()])
    runs: list[Run] = []
    for (path, (population, game, about)), label in zip(loaded.items(), labels, strict=True):
        seed = int(about.get("seed", 0))
        name = f"{label} seed {seed}"
        if any(run.name == name for run in runs):
            name = f"{name} ({path})"
        runs.append(Run(name, path, label, seed, population, game, about["sha256"]))
    check_same_game(runs)
    return runs


def among(runs: Sequence[Run], paths: Sequence[Path]) -> list[Run]:
    """Those of the runs that some paths name. All are loaded together, so that one run has one name throughout."""
    files = {file for path in paths for file in find_files(path)}
    found = [run for run in runs if run.path in files]
    if not found:
        raise EvaluationError(f"no finished run in {', '.join(map(str, paths))}")
    return found


def method_labels(abouts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name the method of each run; where one was run with several settings, with those that differ.

    Otherwise seeds of different experiments would be counted as seeds of one.
    """
    methods = [about.get("method", {}) for about in abouts]
    names = [method.get("label") or method.get("name") or "unknown" for method in methods]
    settings = [method.get("settings", {}) for method in methods]
    labels = []
    for name, own in zip(names, settings, strict=True):
        same = [other for other_name, other in zip(names, settings, strict=True) if other_name == name]
        differ = [key for key in own if any(other.get(key) != own[key] for other in same)]
        labels.append(" ".join([name, *(f"{key}={own[key]}" for key in differ)]))
    return labels


def find_files(path: Path) -> list[Path]:
    """Find population files: the path itself, or all below a folder."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise EvaluationError(f"no population file or run folder {path}")
    found = sorted(path.rglob(FILE))
    if not found:
        raise EvaluationError(f"{path} holds no {FILE}")
    return found


def check_same_game(runs: Sequence[Run]) -> None:
    """Refuse populations of different games: they can't play with each other."""
    first = runs[0]
    for run in runs[1:]:
        if not run.game.same_as(first.game):
            ours, theirs = (f"{type(r.game).__name__}{r.game.settings()}" for r in (first, run))
            raise EvaluationError(f"{run.path} plays {theirs}, and {first.path} plays {ours}: evaluate them apart")


def evaluate(
    runs: Sequence[Run], strangers: Sequence[Run] | None, episodes: int, seed: int = 0, gamma: float = GAMMA
) -> Evaluation:
    """Let the PLASTIC learner of every run play with every heuristic, or with every teammate of other runs.

    Each pair plays so many complete episodes.
    """
    if episodes < 1:
        raise EvaluationError(f"episodes is {episodes}: each pair must play at least one")
    game = runs[0].game
    if strangers is None:
        try:
            teammates = SeveralPolicies([heuristics_of(game)])
        except ValueError as error:
            raise EvaluationError(str(error)) from None
    else:
        check_same_game([runs[0], *strangers])
        named = [
            LearnedPolicies(run.population, names=[f"{run.name} #{k + 1}" for k in range(run.population.n_types)])
            for run in strangers
        ]
        teammates = SeveralPolicies(named)
    owners: list[Run | None] = (
        [None] * len(teammates) if strangers is None else [r for r in strangers for _ in range(r.population.n_types)]
    )
    learners = SeveralPolicies([Plastic(run.population, name=run.name) for run in runs])
    generator = torch.Generator().manual_seed(seed)
    pairs = all_pairs(teammates, learners)
    played = play_pairs(game, teammates, learners, pairs, episodes, generator, gamma)
    means = [value.float().mean(-1).tolist() for value in (played.returns, played.discounted, played.lengths)]
    cells = []
    for (t, r), mean_return, discounted, length in zip(pairs.tolist(), *means, strict=True):
        run, owner = runs[r], owners[t]
        seen = owner is not None and owner.sha256 == run.sha256
        task = teammates.names[t] if owner is None else owner.method
        names = run.name, run.method, run.seed, teammates.names[t], task
        cells.append(Cell(*names, seen, mean_return, discounted, length, episodes))
    self_play = [measure_self_play(run, episodes, generator) for run in runs]
    return Evaluation(type(game).__name__, cells, self_play, gamma)


def measure_self_play(run: Run, episodes: int, generator: torch.Generator) -> SelfPlay:
    """BRDiv, how long the run's own teams take, and how soon the learner knows them."""
    played = cross_play(run.game, run.population, run.population.n_types, episodes, generator)
    lengths = played.lengths.float().mean(-1).diagonal()
    brdiv = float(best_response_diversity(played.returns.mean(-1)))
    curve = recognition(run, episodes, generator)
    return SelfPlay(run.name, run.method, run.seed, brdiv, float(lengths.min()), float(lengths.max()), curve)


def recognition(run: Run, episodes: int, generator: torch.Generator) -> list[float]:
    """Share of episodes with its own teammates in which the learner believes most in the right one, after each step.

    An episode that has ended counts with the belief at its end.
    """
    if isinstance(run.game, ForeignGame):  # one copy of a foreign environment a row would be too many
        return []
    types = torch.arange(run.population.n_types).repeat_interleave(episodes)
    beliefs, played = beliefs_in(run.game, run.population, types, generator)
    right = (beliefs.argmax(-1) == types).float()
    steps = torch.minimum(torch.arange(len(right))[:, None], played.lengths - 1)
    return [float(share) for share in right.gather(0, steps).mean(-1)]
