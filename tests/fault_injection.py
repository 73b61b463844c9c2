"""Kill, stop and freeze a run at random moments, resume, and compare with one that was left alone: `make faults`.

Not a test of the suite, because every fault costs a start. On Level-Based Foraging, with checkpoints, matrices and
PLASTIC due together. The run left alone is started as users start it; the others are forked (`tests/forked.py`).
"""

import argparse
import csv
import functools
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import torch
from safetensors.torch import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from brdiv.parent import as_parent
from brdiv.runs import RunFolder, read_about, read_checkpoint
from tests.forked import Run, die_inside_checkpoint, die_inside_export
from tests.processes import alive, catches, children

SETTINGS = ["--config", "lbf", "--model.hidden", "[32]", "--model.critic_hidden", "[32]", "--threads", "1"]
SETTINGS += ["--data.self_play_rows", "16", "--data.cross_play_rows", "16", "--model.products", "blas"]
SETTINGS += ["--cross_play.episodes", "2", "--cross_play.final_episodes", "8", "--plastic.episodes", "1"]
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
FAULTS = ["SIGKILL", "SIGINT", "SIGTERM", "SIGHUP", "freeze", "inside a checkpoint"]
PATIENCE = 900.0  # seconds in which a run that was asked to stop must have ended: the machine may be crowded


def options(run: Path, steps: int, times: int) -> list[str]:
    """Options of `brdiv fit` for a run in which everything is due so many times, always together."""
    every = [part for name in ("checkpoints", "cross_play", "plastic") for part in (f"--{name}.every", steps // times)]
    return [*SETTINGS, "--data.steps", str(steps), *map(str, every), "--run", str(run)]


def logged(run: Path) -> dict[str, list[tuple[int, float]]]:
    """Scalars of a run by name, those that depend on the clock left out."""
    events = EventAccumulator(str(run), size_guidance={"scalars": 0}).Reload()
    tags = [tag for tag in events.Tags()["scalars"] if not tag.startswith("throughput")]
    return {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in tags}


def left_behind(run: Path) -> list[Path]:
    """Files that a run should not leave: half written ones, and locks."""
    return [path for path in run.rglob("*") if ".part" in path.name or path.name.startswith(".")]


class Struck:
    """A run that is started, struck and resumed again and again."""

    def __init__(self, run: Path, steps: int, times: int) -> None:
        self.run, self.options = run, options(run, steps, times)

    @property
    def checkpoints(self) -> list[str]:
        """Names of the checkpoints to resume from, oldest first."""
        return sorted(path.stem for path in self.run.glob("checkpoints/step_*.ckpt"))

    @property
    def logs(self) -> int:
        """How many log files there are: one more with every process that begins to train."""
        return len(list(self.run.glob("events*")))

    def resume(self, **how: object) -> Run:
        """Start a process that goes on from the last checkpoint, if there is one."""
        return Run([*self.options, *(["--ckpt_path", "last"] if self.checkpoints else [])], **how)

    def wait_until_it_trains(self, process: Run) -> None:
        """Wait until a process listens to signals, and for a checkpoint without which nothing could be resumed."""
        # Lightning listens to SIGTERM, but not to SIGHUP: whoever does is ready for all of them.
        while process.poll() is None and not (catches(process.pid, signal.SIGHUP) and self.checkpoints):
            time.sleep(0.01)

    def strike(self, fault: str, seconds: float, luck: random.Random) -> bool:
        """Resume, and do one thing to the process within so many seconds; False if it had ended before."""
        if fault == "inside a checkpoint":
            process = self.resume(doom=functools.partial(die_inside_checkpoint, luck.choice([1, 2])))
            return process.wait() == -signal.SIGKILL
        process = self.resume()
        if fault != "SIGKILL" or luck.random() < 0.8:  # the others kill before anything was done
            self.wait_until_it_trains(process)
        if not self.let_train(process, luck.uniform(0.0, seconds)):
            return False
        if fault == "freeze":
            process.send_signal(signal.SIGSTOP)
            time.sleep(luck.uniform(0.1, 1.0))
            process.send_signal(signal.SIGCONT)
            if not self.let_train(process, luck.uniform(0.0, seconds)):
                return False
        return self.end(process, luck.choice(STOPS) if fault == "freeze" else signal.Signals[fault])

    def let_train(self, process: Run, seconds: float) -> bool:
        """Wait so long, or until a checkpoint appears: the machine may be faster than it was. False if it has ended."""
        newest, end = self.checkpoints[-1:], time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < end and self.checkpoints[-1:] == newest:
            time.sleep(0.002)
        return process.poll() is None

    def end(self, process: Run, signum: signal.Signals) -> bool:
        """Send a signal that ends a process, which must say how to resume it if it can, and leave no other behind.

        False if nothing was left to learn: then it ends in its own time.
        """
        offspring = children(process)
        process.send_signal(signum)
        code = process.wait(PATIENCE)
        if code == 0 and "has learned all it will" in process.said():
            return False
        if signum in STOPS:
            assert code == 128 + signum, (signum, code, process.said())
            assert "resume with" in process.said(), (signum, process.said())
            assert not left_behind(self.run), left_behind(self.run)
        assert not any(alive(pid) for pid in offspring), f"{signum} left an orphan"
        return True

    def resume_twice(self) -> str:
        """Resume in two processes at once: one must go on, the other be refused, and the folder stay whole."""
        logs = self.logs
        both = [self.resume() for _ in range(2)]
        while all(each.poll() is None for each in both):
            time.sleep(0.02)
        refused, winner = sorted(both, key=lambda each: each.poll() is None)
        assert refused.poll() == 2, refused.said()
        assert "is in use by another run" in refused.said(), refused.said()
        self.wait_until_it_trains(winner)
        assert winner.poll() is None, winner.said()
        assert self.end(winner, signal.SIGTERM), "the run is over: give it more --steps"
        assert self.logs == logs + 1, "the one that was refused has logged something"
        for path in RunFolder(self.run).numbered_checkpoints().values():
            read_checkpoint(path)
        return self.checkpoints[-1]


def inject(struck: Struck, faults: int, seconds: float, luck: random.Random) -> Counter:
    """Strike so many times, every kind of fault as often as the others; returns how often each struck."""
    done: Counter = Counter()
    for number in range(1, faults + 1):
        fault = FAULTS[number % len(FAULTS)]
        if not struck.strike(fault, seconds, luck):
            raise SystemExit(f"the run ended before it was struck {faults} times: give it more --steps")
        done[fault] += 1
        print(f"fault {number}, {fault}: {struck.checkpoints[-1]}", flush=True)
    return done


def compare(struck: Path, whole: Path) -> None:
    """Hold the end of one run against that of the other, and look for leftovers."""
    ours, theirs = (load_file(run / "population.safetensors") for run in (struck, whole))
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs), "weights differ"
    rows = [list(csv.reader((run / "cross_play.csv").open())) for run in (struck, whole)]
    assert rows[0] == rows[1], "cross_play.csv differs"
    first, second = logged(struck), logged(whole)
    assert first == second, [tag for tag in second if first.get(tag) != second[tag]]
    assert not left_behind(struck), f"left behind: {left_behind(struck)}"
    print(f"weights bit for bit the same, no log step lost or doubled ({len(second)} scalars), nothing left behind")


def main() -> None:
    """Strike, resume, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=30)
    parser.add_argument("--pairs", type=int, default=20, help="how often to resume in two processes at once")
    parser.add_argument("--steps", type=int, default=120_000, help="of the run, which must not end before all faults")
    parser.add_argument("--times", type=int, default=48, help="how often checkpoints and measurements are due in it")
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()
    luck = random.Random(wanted.seed)
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder  # where processes write what they say
        whole, struck = Path(folder, "whole"), Struck(Path(folder, "struck"), wanted.steps, wanted.times)
        command = [sys.executable, "-m", "brdiv", "fit", *options(whole, wanted.steps, wanted.times)]
        alone = subprocess.Popen(command, env=as_parent(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        began, first = time.time(), struck.resume()
        struck.wait_until_it_trains(first)
        first.send_signal(signal.SIGKILL)
        first.wait()
        for number in range(1, wanted.pairs + 1):
            print(f"two at once, {number}: one went on to {struck.resume_twice()}, one was refused", flush=True)
        assert alone.wait() == 0
        seconds = (whole / "population.safetensors").stat().st_mtime - began
        done = inject(struck, wanted.faults, seconds / wanted.times / 2, luck)
        assert struck.resume(doom=die_inside_export).wait() == -signal.SIGKILL
        population = struck.run / "population.safetensors"  # of a time when the run was stopped, if there is one
        assert not population.exists() or not read_about(population)["finished"]
        last = struck.resume()
        assert last.wait() == 0, last.said()
        compare(struck.run, whole)
        print(f"{wanted.pairs} pairs, {done.total()} faults {dict(done)}, killed inside the last export")


if __name__ == "__main__":
    main()
