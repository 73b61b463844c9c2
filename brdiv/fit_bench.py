"""`brdiv bench --config`: the real training path against the mathematics it can't do without."""

import io
import json
import platform
import sys
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path
from statistics import median
from typing import Any

import lightning
import tensordict
import torch
import torchrl
from lightning import Callback

from brdiv.bench import Floor, Parts, time_parts, timed
from brdiv.callbacks import RunStopped
from brdiv.training_cli import TrainingCLI, build


class Clock(Callback):
    """Notes when every update ends."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def on_train_batch_end(self, *_: object) -> None:
        """Note it."""
        self.ends.append(time.perf_counter())


def built(arguments: list[str], run: Path, updates: int) -> TrainingCLI:
    """Build everything that `brdiv fit` would run, with a budget of so many updates."""
    cli = build(["fit", *arguments, "--run", str(run), "--trainer.enable_progress_bar", "false"], run=False)
    cli.datamodule.steps = cli.datamodule.steps_per_update * updates
    return cli


def bench_training(arguments: list[str], updates: int, repeats: int, warm_up: int = 20) -> dict[str, Any]:
    """Measure `brdiv fit` with these arguments and the floor in turn; the best of several repeats of each."""
    fits, floors = [], []
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(repeats):
            cli = built(arguments, Path(folder, str(repeat)), updates + warm_up)
            clock = Clock()
            cli.trainer.callbacks.append(clock)  # type: ignore[attr-defined]
            try:
                # What the run says in the end is of no interest: its population has hardly begun to learn.
                with redirect_stdout(io.StringIO()):
                    cli.trainer.fit(cli.model, datamodule=cli.datamodule)
            except RunStopped as stop:
                sys.exit(128 + stop.signum)
            fits.append((clock.ends[-1] - clock.ends[warm_up - 1]) / updates)
            floor = Floor(cli.model, cli.datamodule)
            floors.append(sum(timed(floor.update, updates)) / updates)
        parts = time_parts(cli.model, cli.datamodule, 30)
    steps = cli.datamodule.steps_per_update
    return {
        "env_steps_per_second": round(steps / min(fits)),
        "floor_steps_per_second": round(steps / min(floors)),
        "fraction_of_floor": round(min(floors) / min(fits), 3),
        "milliseconds_per_update": 1000 * min(fits),
        "spread": {"fit": spread(fits, steps), "floor": spread(floors, steps)},
        "milliseconds": {**parts._asdict(), "loop_overhead": max(1000 * min(fits) - sum(parts), 0.0)},
        "threads": torch.get_num_threads(),
        "rows": cli.datamodule.pairing.rows,
        "window": cli.datamodule.window,
        "n_types": cli.model.population.n_types,
        "hidden": cli.model.population.hidden,
        "observation_size": cli.model.population.observation_size,
        "game": type(cli.datamodule.game).__name__,
        "objective": type(cli.model.objective).__name__,
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
    print(f"  fraction   {result['fraction_of_floor']:>10.2f}")
    print(f"milliseconds of an update, {result['milliseconds_per_update']:.2f} in all")
    for name in (*Parts._fields, "loop_overhead"):
        print(f"  {name.replace('_', ' '):18} {result['milliseconds'][name]:>8.2f}")
    result["milliseconds"] = {name: round(value, 3) for name, value in result["milliseconds"].items()}
    result["milliseconds_per_update"] = round(result["milliseconds_per_update"], 3)
    print(json.dumps(result))
