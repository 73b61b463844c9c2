"""Two versions of brdiv, trained in turn: a machine that others use, too, is as slow for the one as for the other."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import mean, median
from typing import IO, NamedTuple

from brdiv.errors import UserError

ROUNDS = 6
STRETCH = 20  # updates that one trains before it is the other's turn
WARM_UP = 100  # updates: oneDNN builds a kernel for every new shape, and there are more of them than one
TRAINING_ALONE = ("--cross_play.every", "0", "--plastic.every", "0")


class Speed(NamedTuple):
    """Environment steps per second of one version: of its rounds, and of its fastest stretch."""

    rounds: list[float]
    best: float
    per_cpu_second: float  # in the stretch with the least computing: hardly touched by others that use the machine


class Runner:
    """A version of brdiv that trains when it is its turn."""

    def __init__(self, process: "subprocess.Popen[str]", complaints: IO[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self.orders, self.answers, self.complaints = process.stdin, process.stdout, complaints
        self.steps = int(self.read()[0])  # of an update

    def train(self, updates: int) -> tuple[float, float]:
        """Train so many updates; seconds of each by the clock, and of computing."""
        self.orders.write(f"{updates}\n")
        self.orders.flush()
        clock, computing = self.read()
        return clock / updates, computing / updates

    def read(self) -> list[float]:
        """Wait for an answer."""
        line = self.answers.readline()
        if not line:
            self.process.wait()
            self.complaints.seek(0)
            said = self.complaints.read().strip().splitlines()
            raise UserError(said[-1] if said else "a version of brdiv ended without a word")
        return [float(number) for number in line.split()]


@contextmanager
def started(python: str, script: str, arguments: list[str]) -> Iterator[Runner]:
    """Start the version of brdiv that a Python has, and end it when it has been measured."""
    # -P, because beside the file lie others whose names could hide libraries.
    command = [python, "-P", script, *arguments]
    with ExitStack() as stack:
        complaints = stack.enter_context(tempfile.TemporaryFile("w+"))
        try:
            process = stack.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, text=True)
            )
        except OSError as error:
            raise UserError(f"against: {python} can't be run: {error.strerror or error}") from None
        yield Runner(process, complaints)


def measure_against(python: str, script: str, arguments: list[str], threads: int, updates: int) -> tuple[Speed, Speed]:
    """Measure the version of another Python and this one, in turn, with so many updates of each per round.

    ``script`` is the file that trains a stretch whenever it is told to.
    """
    arguments = [*arguments, *TRAINING_ALONE, "--threads", str(threads)]
    stretches = max(updates // STRETCH, 1)
    with ExitStack() as stack:
        runners = [stack.enter_context(started(each, script, arguments)) for each in (python, sys.executable)]
        for runner in runners:
            runner.train(WARM_UP)
        # [round][stretch][version] seconds by the clock and of computing
        taken = [[[r.train(STRETCH) for r in runners] for _ in range(stretches)] for _ in range(ROUNDS)]
        other, this = (speed_of([[s[v] for s in r] for r in taken], runners[v].steps) for v in range(2))
    return other, this


def speed_of(rounds: list[list[tuple[float, float]]], steps: int) -> Speed:
    """Summarise the seconds of each round's stretches for updates of so many steps."""
    stretches = [stretch for each in rounds for stretch in each]
    return Speed(
        [steps / mean(clock for clock, _ in each) for each in rounds],
        steps / min(clock for clock, _ in stretches),
        steps / min(computing for _, computing in stretches),
    )


def print_against(python: str, script: str, arguments: list[str], threads: list[int], updates: int) -> None:
    """Print how many times as fast this version is on so many threads each, and everything as JSON in the last line."""
    print(f"environment steps per second, {ROUNDS} rounds in turn: median (best stretch, best per CPU second)")
    print(f"{'threads':>7}  {Path(python).absolute()!s:>34}  {'this version':>34}  times as fast")
    results = []
    for each in threads:
        other, this = measure_against(python, script, arguments, each, updates)
        ratios = [mine / theirs for mine, theirs in zip(told(this), told(other), strict=True)]
        shown = [f"{m:,.0f} ({b:,.0f}, {c:,.0f})" for m, b, c in (told(other), told(this))]
        gain = f"{ratios[0]:.2f} ({ratios[1]:.2f}, {ratios[2]:.2f})"
        print(f"{each:>7}  {shown[0]:>34}  {shown[1]:>34}  {gain}", flush=True)
        results.append({"threads": each, "other": other._asdict(), "this": this._asdict(), "ratios": ratios})
    print(json.dumps(results))


def told(speed: Speed) -> tuple[float, float, float]:
    """Median of the rounds, and the bests."""
    return median(speed.rounds), speed.best, speed.per_cpu_second
