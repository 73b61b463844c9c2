"""How speed and memory follow rows, the size of the population, and threads."""

import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from brdiv.errors import UserError
from brdiv.figures import scaling_chart

ROWS = (160, 640, 2_560, 16_384)
TYPES = (2, 4, 8, 16, 32)


class Point(NamedTuple):
    """One measurement."""

    rows: int
    n_types: int
    threads: int
    env_steps_per_second: int
    milliseconds_per_update: float
    peak_memory_mib: int


def measure(arguments: list[str], rows: int, n_types: int | None, threads: int) -> Point:
    """Run `brdiv bench` in a process of its own, so that memory is its alone; a fifth of the rows is self-play."""
    own = ["--data.self_play_rows", str(rows // 5), "--data.cross_play_rows", str(rows - rows // 5)]
    own += ["--data.steps", "1_000_000_000", "--cross_play.episodes", "1", "--plastic.every", "0"]
    if n_types is not None:
        own += ["--model.n_types", str(n_types)]
    command = [sys.executable, "-m", "brdiv", "bench", *arguments, *own, "--threads", str(threads)]
    command += ["--updates", "20", "--repeats", "1", "--single"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "the benchmark failed")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return Point(rows, result["n_types"], threads, *(result[name] for name in Point._fields[3:]))


def sweep(arguments: list[str]) -> Iterator[Point]:
    """Vary rows with one and two threads, then the size of the population at the fewest rows with two."""
    for threads in (1, 2):
        for rows in ROWS:
            yield measure(arguments, rows, None, threads)
    for n_types in TYPES:
        yield measure(arguments, ROWS[0], n_types, 2)


def run_scaling(arguments: list[str], folder: Path) -> None:
    """Measure everything, print each point as it comes, and write `scaling.csv` and `scaling.png`."""
    folder.mkdir(parents=True, exist_ok=True)
    points = []
    print(f"{'rows':>7} {'K':>3} {'threads':>7} {'steps/s':>9} {'ms/update':>10} {'MiB':>6}")
    with (folder / "scaling.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(Point._fields)
        for p in sweep(arguments):
            points.append(p)
            writer.writerow(p)
            file.flush()
            print(f"{p.rows:>7,} {p.n_types:>3} {p.threads:>7} {p.env_steps_per_second:>9,} "
                  f"{p.milliseconds_per_update:>10.1f} {p.peak_memory_mib:>6,}", flush=True)  # fmt: skip
    first = len(ROWS)
    by_rows = {f"{t} thread{'s' * (t > 1)}": points[(t - 1) * first : t * first] for t in (1, 2)}
    scaling_chart(by_rows, points[2 * first :]).savefig(folder / "scaling.png", dpi=150)
    print(f"{folder / 'scaling.csv'}, {folder / 'scaling.png'}")
