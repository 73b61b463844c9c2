"""How fast a learner trains: the whole of `brdiv learn`, in stretches of a few updates."""

import io
import json
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import torch
from lightning import Callback, LightningModule, Trainer

from brdiv.learners import LearnerData, LearnerModule

WARM_UP = 2  # updates that don't count
STRETCH = 5  # updates that are timed together


class LearningParts(NamedTuple):
    """What a run consists of, ready to be started."""

    trainer: Trainer
    module: LearnerModule
    data: LearnerData


class Clock(Callback):
    """Times stretches of updates: on the wall, and on this process's processors alone."""

    def __init__(self) -> None:
        self.wall: list[float] = []  # seconds per update
        self.busy: list[float] = []
        self.began = (0.0, 0.0)

    def on_train_batch_end(
        self, trainer: Trainer, module: LightningModule, outputs: object, batch: object, batch_idx: int
    ) -> None:
        """Note the time where a stretch ends."""
        done = batch_idx + 1 - WARM_UP
        if done < 0 or done % STRETCH:
            return
        now = (time.perf_counter(), time.process_time())
        if done:
            self.wall.append((now[0] - self.began[0]) / STRETCH)
            self.busy.append((now[1] - self.began[1]) / STRETCH)
        self.began = now


def measure_learning(build: Callable[[Path, int], LearningParts], updates: int, repeats: int) -> dict[str, Any]:
    """Measure training; the best stretch counts. ``build`` makes a run from its folder and its number of updates."""
    updates = max(updates // STRETCH, 1) * STRETCH
    wall: list[float] = []
    busy: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(repeats):
            run = build(Path(folder, str(repeat)), updates + WARM_UP)
            clock = Clock()
            run.trainer.callbacks.append(clock)  # type: ignore[attr-defined]
            with redirect_stdout(io.StringIO()):  # the learner has hardly begun to learn
                run.trainer.fit(run.module, datamodule=run.data)
            wall += clock.wall
            busy += clock.busy
    steps = run.data.steps_per_update
    return {
        "game": type(run.data.game).__name__,
        "method": run.module.method.label,
        "teammates": len(run.data.found.names),
        "rows": run.data.pairing.rows,
        "window": run.data.window,
        "threads": torch.get_num_threads(),
        "env_steps_per_second": round(steps / min(wall)),
        "median": round(steps / median(wall)),
        "slowest": round(steps / max(wall)),
        "env_steps_per_processor_second": round(steps / min(busy)),
    }


def print_learning(result: dict[str, Any]) -> None:
    """Print a line for people, and everything as JSON in the last one."""
    of = f"{result['teammates']} teammates, {result['rows']} rows x {result['window']} steps"
    print(f"{result['game']}, {result['method']}, {of}, {result['threads']} threads")
    print("environment steps per second, best (median, slowest):")
    print(f"  brdiv learn  {result['env_steps_per_second']:>10,}  ({result['median']:,}, {result['slowest']:,})")
    print(f"  per processor's second {result['env_steps_per_processor_second']:>,}")
    print(json.dumps(result))
