"""Reading what a study measured: matrices, strategies, and episodes with strangers. Damaged lines are left out."""

import csv
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from brdiv.runs import RunFolder

Key = tuple[str, int]  # method (stem of its config), seed


class Matrix(NamedTuple):
    """A population's cross-play, ``[K, K]`` each: teammates down, best responses across."""

    returns: Tensor
    lengths: Tensor
    episodes: int


class Score(NamedTuple):
    """What a learner earned on average with the strangers of one task."""

    learner: str
    scenario: str
    method: str
    seed: int
    task: str  # the heuristic, or the method (stem) whose teams they are
    mean_return: float


class TeamWay(NamedTuple):
    """What a team of a population mostly does."""

    team: int  # from 1
    strategy: str
    share: float  # of the episodes that it won


def read_rows(path: Path) -> Iterator[dict[str, str]]:
    """Read the whole lines of a CSV file; none where there is no file."""
    if path.is_file():
        with path.open(newline="", errors="replace") as file:
            for row in csv.DictReader(file):
                if None not in row and None not in row.values():
                    yield row


def read_matrices(path: Path) -> dict[Key, Matrix]:
    """Read the cross-play of every population of a game."""
    pairs: defaultdict[Key, dict[tuple[int, int], tuple[float, float, int]]] = defaultdict(dict)
    for row in read_rows(path):
        try:
            key, pair = (row["method"], int(row["seed"])), (int(row["teammate"]), int(row["response"]))
            pairs[key][pair] = float(row["mean_return"]), float(row["mean_length"]), int(row["episodes"])
        except (KeyError, ValueError):
            continue
    return {key: matrix for key, found in pairs.items() if (matrix := as_matrix(found)) is not None}


def read_own_matrix(run: RunFolder) -> Matrix | None:
    """Read the last matrix that a run measured itself while it trained."""
    pairs: dict[tuple[int, int], tuple[float, float, int]] = {}
    last = -1
    for row in read_rows(run.cross_play_table):
        try:
            step, pair = int(row["step"]), (int(row["teammate"]), int(row["best_response"]))
            values = float(row["mean_return"]), float(row["mean_length"]), int(row["episodes"])
        except (KeyError, ValueError):
            continue
        if step != last:
            pairs, last = {}, step
        pairs[pair] = values
    return as_matrix(pairs)


def as_matrix(pairs: Mapping[tuple[int, int], tuple[float, float, int]]) -> Matrix | None:
    """Put pairs, counted from 1, into a matrix; None where some are missing."""
    n_types = math.isqrt(len(pairs))
    ids = range(1, n_types + 1)
    if n_types < 2 or any((i, j) not in pairs for i in ids for j in ids):
        return None
    values = torch.tensor([[pairs[i, j] for j in ids] for i in ids])
    return Matrix(values[..., 0], values[..., 1], int(values[0, 0, 2]))


def read_scores(path: Path) -> list[Score]:
    """Read what every learner earned in every task: the mean over strangers of the mean over episodes.

    A learner's own teammates are no strangers to it.
    """
    sums: defaultdict[tuple[str, ...], list[float]] = defaultdict(lambda: [0.0, 0])
    names = ("learner", "scenario", "method", "seed", "teammate_method", "teammate_seed", "teammate")
    if not path.is_file():
        return []
    with path.open(newline="", errors="replace") as file:
        lines = csv.reader(file)
        head = next(lines, [])
        if not {*names, "return"} <= set(head):
            return []
        at, value = [head.index(name) for name in names], head.index("return")
        for line in lines:  # a million of them, for a whole study: no dictionaries here
            try:
                total = sums[tuple([line[i] for i in at])]
                total[0] += float(line[value])
                total[1] += 1
            except (ValueError, IndexError):
                continue
    tasks: defaultdict[tuple[str, ...], list[float]] = defaultdict(list)
    for (learner, scenario, method, seed, owner, owner_seed, teammate), (paid, count) in sums.items():
        generated = scenario != "heuristics"
        if count and seed.isdecimal() and not (generated and (owner, owner_seed) == (method, seed)):
            tasks[learner, scenario, method, seed, owner if generated else teammate].append(paid / count)
    return [
        Score(learner, scenario, method, int(seed), task, sum(means) / len(means))
        for (learner, scenario, method, seed, task), means in tasks.items()
    ]


def read_strategies(path: Path) -> dict[Key, list[TeamWay]]:
    """Read what the teams of every population mostly do."""
    found: defaultdict[Key, list[TeamWay]] = defaultdict(list)
    for row in read_rows(path):
        try:
            way = TeamWay(int(row["team"]), row["strategy"], float(row["share"] or "nan"))
            found[row["method"], int(row["seed"])].append(way)
        except (KeyError, ValueError):
            continue
    return dict(found)
