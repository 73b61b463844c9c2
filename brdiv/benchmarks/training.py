"""The real training path against the mathematics it can't do without."""

import io
import json
import platform
import resource
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

import lightning
import tensordict
import torch
import torchrl
from lightning import Callback, LightningModule, Trainer

from brdiv.benchmarks.floor import Floor
from brdiv.benchmarks.limit import highest_rate, operations_per_update
from brdiv.benchmarks.parts import time_parts
from brdiv.benchmarks.timing import timed
from brdiv.errors import UserError
from brdiv.training import RolloutData, TeammateGenerator
from brdiv.training.products import USES, multiplied

STRETCH = 20  # updates that are timed together


class TrainingParts(NamedTuple):
    """What a training run consists of, ready to be started."""

    trainer: Trainer
    module: TeammateGenerator
    data: RolloutData


class Clock(Callback):
    """Times stretches of updates, and of the floor in turn: a shared machine is faster at times than at others.

    What is done only now and then, measurements and checkpoints, is timed apart. Each of those is made to happen early
    once, so that a short run can tell what they cost a long one.
    """

    def __init__(self, warm_up: int) -> None:
        self.updates = -warm_up
        self.began = 0.0
        self.floor: Floor | None = None
        self.loops: list[float] = []
        self.floors: list[float] = []
        self.paused = 0.0
        self.pauses: dict[Callback, list[float]] = {}

    def on_train_start(self, trainer: Trainer, module: LightningModule) -> None:
        """Build the floor, and watch all that comes round every so many steps."""
        self.floor = Floor(trainer.lightning_module, trainer.datamodule)  # type: ignore[arg-type, attr-defined]
        for callback in trainer.callbacks:  # type: ignore[attr-defined]
            times = getattr(callback, "times", None)
            if times is not None and times.every:
                times.next = 1
                self.watch(callback)

    def watch(self, callback: Any) -> None:
        """Time a callback when its time has come."""
        run, times = callback.on_train_batch_end, self.pauses.setdefault(callback, [])

        def timed_run(trainer: Trainer, module: TeammateGenerator, *rest: Any) -> None:
            reached, began = callback.times.reached(module.env_steps), time.perf_counter()
            run(trainer, module, *rest)
            if reached:
                times.append(time.perf_counter() - began)
                self.paused += times[-1]

        callback.on_train_batch_end = timed_run

    def on_train_batch_end(self, *_: object) -> None:
        """At the end of a stretch, note its mean seconds per update, and those of as many of the floor's."""
        self.updates += 1
        if self.updates < 0 or self.updates % STRETCH:
            return
        if self.updates:
            self.loops.append((time.perf_counter() - self.began - self.paused) / STRETCH)
        assert self.floor is not None
        self.floors.append(mean(timed(self.floor.update, STRETCH)))
        self.began, self.paused = time.perf_counter(), 0.0

    def share(self, steps: int) -> float:
        """Seconds of an update of so many steps that go into what is done now and then."""
        return sum(min(times) * steps / callback.times.every for callback, times in self.pauses.items())  # type: ignore[attr-defined]


def measure_training(
    build: Callable[[Path, int], TrainingParts], updates: int, repeats: int, warm_up: int = 10
) -> dict[str, Any]:
    """Measure training and the floor in turn; the best stretch of each counts.

    ``build`` makes a run from its folder and its number of updates.
    """
    loops: list[float] = []
    floors: list[float] = []
    pauses = []
    updates = max(updates // STRETCH, 1) * STRETCH
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(repeats):
            run = build(Path(folder, str(repeat)), updates + warm_up)
            clock = time_run(run, warm_up)
            loops += clock.loops
            floors += clock.floors
            pauses.append(clock.share(run.data.steps_per_update))
        way = run.module.products.chosen or "blas"
        with multiplied(USES[way][0]):
            parts = time_parts(run.module, run.data)
    limit = run.data.steps_per_update * highest_rate() / operations_per_update(run.module, run.data)
    steps, pause = run.data.steps_per_update, min(pauses)
    fits = [loop + pause for loop in loops]
    return {
        "env_steps_per_second": round(steps / min(fits)),
        "floor_steps_per_second": round(steps / min(floors)),
        "fraction_of_floor": round(min(floors) / min(fits), 3),
        "limit_steps_per_second": round(limit),
        "fraction_of_limit": round(steps / min(fits) / limit, 3),
        "fraction_of_medians": round(median(floors) / median(fits), 3),
        "milliseconds_per_update": 1000 * min(fits),
        "spread": {"fit": spread(fits, steps), "floor": spread(floors, steps)},
        "milliseconds": {
            **parts._asdict(),
            "loop_overhead": max(1000 * min(loops) - sum(parts), 0.0),
            "measuring": 1000 * pause,
        },
        "products": way,
        **describe(run),
    }


def time_run(run: TrainingParts, warm_up: int) -> Clock:
    """Train, and time it."""
    if run.trainer.world_size > 1:
        raise UserError(f"{run.trainer.world_size} devices: only one process can be measured")
    clock = Clock(warm_up)
    run.trainer.callbacks.append(clock)  # type: ignore[attr-defined]
    # What the run says in the end is of no interest: its population has hardly begun to learn.
    with redirect_stdout(io.StringIO()):
        run.trainer.fit(run.module, datamodule=run.data)
    return clock


def describe(run: TrainingParts) -> dict[str, Any]:
    """Say what was measured, and with what."""
    population = run.module.population
    return {
        "threads": torch.get_num_threads(),
        "peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "rows": run.data.pairing.rows,
        "window": run.data.window,
        "n_types": population.n_types,
        "hidden": population.hidden,
        "observation_size": population.observation_size,
        "game": type(run.data.game).__name__,
        "objective": type(run.module.objective).__name__,
        "versions": {
            "python": platform.python_version(),
            **{m.__name__: m.__version__ for m in (torch, torchrl, tensordict, lightning)},
        },
    }


def spread(times: list[float], steps: int) -> list[int]:
    """Slowest, median and fastest steps per second."""
    return [round(steps / value) for value in (max(times), median(times), min(times))]


def print_bench(result: dict[str, Any]) -> None:
    """Print a table for people, and everything as JSON in the last line."""
    slowest, middle, _ = result["spread"]["fit"]
    floor_slowest, floor_middle, _ = result["spread"]["floor"]
    print(f"{result['game']}, {result['objective']}, K = {result['n_types']}, {result['rows']} rows, "
          f"{result['threads']} threads: environment steps per second, best (median, slowest)")  # fmt: skip
    print(f"  brdiv fit  {result['env_steps_per_second']:>10,}  ({middle:,}, {slowest:,})")
    print(f"  floor      {result['floor_steps_per_second']:>10,}  ({floor_middle:,}, {floor_slowest:,})")
    print(f"  limit      {result['limit_steps_per_second']:>10,}  at the machine's highest rate of products")
    print(f"  of floor   {result['fraction_of_floor']:>10.2f}  ({result['fraction_of_medians']:.2f})")
    print(f"  of limit   {result['fraction_of_limit']:>10.2f}  matrices multiplied by {result['products']}")
    print(f"milliseconds per update, {result['milliseconds_per_update']:.2f} in all")
    for name, value in result["milliseconds"].items():
        print(f"  {name.replace('_', ' '):18} {value:>8.2f}")
    result["milliseconds"] = {name: round(value, 3) for name, value in result["milliseconds"].items()}
    result["milliseconds_per_update"] = round(result["milliseconds_per_update"], 3)
    print(json.dumps(result))
