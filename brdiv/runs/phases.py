"""What a run's folder says of how its population came about."""

import csv
from collections import defaultdict
from collections.abc import Sequence
from statistics import mean
from typing import NamedTuple

from brdiv.runs.folder import RunFolder

WEIGHT = "objective/cross_play_weight"


class Phases(NamedTuple):
    """One run over its environment steps."""

    steps: Sequence[int]
    diagonal: Sequence[float]
    off_diagonal: Sequence[float]
    weight_steps: Sequence[int]  # of the weight of cross-play, which is logged more often than matrices are measured
    weights: Sequence[float]  # none where the weight was constant


def read_phases(run: RunFolder) -> Phases | None:
    """Read the matrices that were measured while a run trained, and the weights it logged; None without matrices."""
    matrices: defaultdict[int, dict[bool, list[float]]] = defaultdict(lambda: {True: [], False: []})
    if not run.cross_play_table.exists():
        return None
    with run.cross_play_table.open(newline="") as file:
        for row in csv.DictReader(file):
            own = row["teammate"] == row["best_response"]
            matrices[int(row["step"])][own].append(float(row["mean_return"]))
    steps = sorted(matrices)
    weights = read_scalar(run, WEIGHT)
    return Phases(
        steps,
        [mean(matrices[step][True]) for step in steps],
        [mean(matrices[step][False]) for step in steps],
        [step for step, _ in weights],
        [value for _, value in weights],
    )


def read_scalar(run: RunFolder, tag: str) -> list[tuple[int, float]]:
    """Read a scalar and its steps from the run's TensorBoard logs; nothing where it was not logged."""
    return read_scalars(run, [tag]).get(tag, [])


def read_scalars(run: RunFolder, tags: Sequence[str]) -> dict[str, list[tuple[int, float]]]:
    """Read scalars and their steps from the run's TensorBoard logs, by tag; those that were not logged are left out."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(run.path), size_guidance={"scalars": 1000})
    events.Reload()
    logged = events.Tags()["scalars"]
    return {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in tags if tag in logged}
