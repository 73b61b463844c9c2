"""Several runs side by side: how best to share the cores among them."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

from brdiv.errors import UserError
from brdiv.parent import as_parent


class Arrangement(NamedTuple):
    """So many runs at a time on so many threads each, and what they do together."""

    runs: int
    threads: int
    env_steps_per_second: int


def arrangements(cores: int) -> list[tuple[int, int]]:
    """Runs and threads that use one core, and all of them.

    >>> arrangements(4)
    [(1, 1), (1, 4), (2, 2), (4, 1)]
    """
    return sorted({(1, 1)} | {(runs, cores // runs) for runs in range(1, cores + 1) if cores % runs == 0})


def measure_together(arguments: list[str], cores: int, updates: int) -> Iterator[Arrangement]:
    """Measure every arrangement with `brdiv bench`, each run in a process of its own."""
    for runs, threads in arrangements(cores):
        yield Arrangement(runs, threads, sum(measure_at_once(arguments, runs, threads, updates)))


def measure_at_once(arguments: list[str], runs: int, threads: int, updates: int) -> list[int]:
    """Median steps per second of each of several runs that train at the same time."""
    command = [sys.executable, "-m", "brdiv", "bench", *arguments, "--threads", str(threads)]
    command += ["--updates", str(updates), "--repeats", "1", "--single"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    started = [subprocess.Popen(command, **pipes, text=True, env=as_parent()) for _ in range(runs)]  # type: ignore[call-overload]
    speeds = []
    try:
        for process in started:
            out, complaint = process.communicate()
            if process.returncode:
                said = complaint.strip().splitlines() or ["the benchmark failed"]
                raise UserError(said[-1].removeprefix("brdiv: error: "))
            speeds.append(int(json.loads(out.splitlines()[-1])["spread"]["fit"][1]))
    finally:
        for process in started:
            process.kill()  # which leaves those alone that have ended
    return speeds


def print_together(found: Iterator[Arrangement]) -> list[Arrangement]:
    """Print each as it comes, and the best in the end."""
    print("steps per second of all runs together (medians), several at a time:")
    shown = []
    for each in found:
        shown.append(each)
        name = f"{each.runs} run{'s' * (each.runs > 1)} on {each.threads} thread{'s' * (each.threads > 1)}"
        print(f"  {name + ' each' * (each.runs > 1):26} {each.env_steps_per_second:>10,}", flush=True)
    best = max(shown, key=lambda each: each.env_steps_per_second)
    print(f"for several seeds: {best.runs} at a time, {best.threads} thread{'s' * (best.threads > 1)} each")
    return shown
