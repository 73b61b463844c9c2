"""Kill a whole study in each of its phases, run it again each time, and compare it with one left alone.

`make study-faults`: not a test of the suite, because it takes some minutes. Studies, their runs and reports are forked
from a process that has imported everything, which costs a fraction of a start.
"""

import argparse
import json
import os
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import load_file

from tests.study_forked import Forked

STEPS = 100_000
STUDY = f"""\
games: [reaching]
methods: [base, independent]
seeds: 0-SEEDS
overrides:
  model: {{ hidden: [16] }}
  data: {{ steps: {STEPS} }}
  checkpoints: {{ every: 2_000 }}
  cross_play: {{ every: 20_000, episodes: 2, final_episodes: 4 }}
  plastic: {{ every: 0, episodes: 1 }}
evaluation: {{ episodes: 4, generated_episodes: 2, cross_play_episodes: 8 }}
"""
TABLES = ("cross_play.csv", "episodes.csv", "strategies.csv")


def trained(folder: Path) -> int:
    """Environment steps that are kept, of all cells together."""
    newest: dict[Path, int] = {}
    for path in folder.glob("cells/*/*/*/checkpoints/step_*.ckpt"):
        newest[path.parent] = max(newest.get(path.parent, 0), int(path.stem.removeprefix("step_")))
    return sum(newest.values())


def measured(folder: Path) -> int:
    """How many units are in the ledger."""
    return sum(len(path.read_text().splitlines()) for path in folder.glob("evaluation/*/measured.jsonl"))


def states(folder: Path) -> dict[str, str]:
    """How every cell stands, by its path."""
    return {
        str(path.relative_to(folder / "cells").with_suffix("")): json.loads(path.read_text())["state"]
        for path in sorted(folder.glob("cells/*/*/seed*.json"))
    }


def done(folder: Path) -> int:
    """How many cells are done."""
    return Counter(states(folder).values())["done"]


def trained_at_once() -> list[str]:
    """Cells that several processes are training at this moment: each bears the name of its cell."""
    names = Counter()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().partition("(")[2].rpartition(") ")
        except OSError:  # it has ended
            continue
        if rest[0] not in "XZ":  # it has ended, but nobody has asked how
            names[name] += 1
    return [name for name, count in names.items() if name.startswith("cell:") and count > 1]


class Victim:
    """A study that is killed and started again, and what must hold each time."""

    def __init__(self, file: Path, folder: Path, luck: random.Random) -> None:
        self.file, self.folder, self.luck = file, folder, luck
        self.written: dict[str, int] = {}
        self.kills: Counter[str] = Counter()

    def start(self) -> Forked:
        """Start the study, or go on with it."""
        return Forked(["study", str(self.file), "--folder", str(self.folder), "--jobs", "2"])

    def kill(self, phase: str, reached: Callable[[], bool], delay: float) -> None:
        """Start it, and kill its own process a moment after it has come so far."""
        process = self.start()
        while not reached():
            if process.poll() is not None:
                raise SystemExit(f"the study ended with code {process.poll()} before a kill: {process.said()}")
            twice = trained_at_once()
            assert not twice, f"two processes train {twice}"
            time.sleep(0.01)
        time.sleep(delay)
        assert process.poll() is None, f"the study ended before it was killed: {process.said()}"
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.kills[phase] += 1
        self.look(phase)

    def look(self, phase: str) -> None:
        """See that what was done before is still what it was."""
        for name, state in states(self.folder).items():
            if state == "done":
                changed = (self.folder / "cells" / name / "population.safetensors").stat().st_mtime_ns
                assert self.written.setdefault(name, changed) == changed, f"{name} was trained again"
        shares = f"{done(self.folder)} cells done, {trained(self.folder):,} steps, {measured(self.folder)} units"
        print(f"killed in {phase} ({self.kills[phase]}): {shares}", flush=True)

    def train(self, times: int) -> None:
        """Kill it while it starts, trains, and right after a cell has ended, each so many times in turn."""
        for _ in range(times):
            self.kill("start", lambda: True, self.luck.uniform(0.0, 3.0))
            further = trained(self.folder) + self.luck.randint(1, STEPS // 2)
            self.kill("training", lambda further=further: trained(self.folder) >= further, self.luck.uniform(0, 0.1))
            more = done(self.folder) + 1
            self.kill("between", lambda more=more: done(self.folder) >= more, self.luck.uniform(0, 0.3))

    def evaluate(self, times: int) -> None:
        """Kill it while it evaluates."""
        units = 4 * len(states(self.folder))  # each by itself, with heuristics, and with the teams of both methods
        for number in range(times):
            first, last = (units * part // times for part in (number, number + 1))
            enough = self.luck.randint(first, last - 2)
            self.kill("evaluation", lambda enough=enough: measured(self.folder) >= enough, self.luck.uniform(0, 0.05))

    def report(self, times: int) -> None:
        """Kill its report: what is there is always a whole page, and the study is what it was."""
        page = self.folder / "report.html"
        command = ["report", str(self.folder), "--animate", "0"]
        before = {path: path.stat().st_mtime_ns for path in self.folder.rglob("*") if path.is_file()}
        began = time.monotonic()
        assert Forked(command).wait() == 0
        seconds = time.monotonic() - began
        for _ in range(times):
            process = Forked(command)
            time.sleep(self.luck.uniform(0.0, 1.1 * seconds))
            process.send_signal(signal.SIGKILL)
            process.wait()
            self.kills["report"] += 1
            assert page.read_text().endswith("</html>"), "half a page"
        assert Forked(command).wait() == 0
        after = {path: path.stat().st_mtime_ns for path in self.folder.rglob("*") if path.is_file()}
        assert {path: after.get(path) for path in before} == before, "the report changed the study"
        print(f"killed in report ({times}); left behind: {sorted(p.name for p in after.keys() - before - {page})}")


def compare(killed: Path, whole: Path) -> int:
    """Compare every population and table of two studies, bit for bit; returns how many populations there are."""
    files = sorted(path.relative_to(whole) for path in whole.glob("cells/*/*/*/population.safetensors"))
    there = sorted(path.relative_to(killed) for path in killed.glob("cells/*/*/*/population.safetensors"))
    assert there == files, "cells were lost"
    for file in files:
        ours, theirs = load_file(killed / file), load_file(whole / file)
        assert ours.keys() == theirs.keys(), file
        assert all(torch.equal(ours[name], theirs[name]) for name in theirs), f"weights of {file} differ"
    for table in TABLES:
        ours, theirs = ((folder / "evaluation" / "reaching" / table).read_bytes() for folder in (killed, whole))
        assert ours == theirs, f"{table} differs"
    return len(files)


def main() -> None:
    """Kill, run again, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=10, help="in each phase")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        file, whole, killed = (Path(temporary, name) for name in ("study.yaml", "whole", "killed"))
        # In each round two cells may end, as two are trained at a time.
        file.write_text(STUDY.replace("SEEDS", str(options.kills)))
        alone, victim = Victim(file, whole, random.Random()), Victim(file, killed, random.Random(options.seed))
        left_alone = alone.start()
        assert left_alone.wait() == 0, left_alone.said()
        print(f"the whole study took {time.monotonic() - began:.0f} s", flush=True)
        victim.train(options.kills)
        victim.evaluate(options.kills)
        last = victim.start()
        assert last.wait() == 0, last.said()
        victim.look("nothing")
        victim.report(options.kills)
        count = compare(killed, whole)
        kills = ", ".join(f"{number} in {phase}" for phase, number in victim.kills.items() if number)
        print(f"killed {kills}: {count} populations and all tables bit for bit the same, none lost, none trained twice")
    print(f"{time.monotonic() - began:.0f} s in all")


if __name__ == "__main__":
    main()
