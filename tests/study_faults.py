"""Kill a whole study at random moments, run it again each time, and compare with one left alone: `make study-faults`.

Not a test of the suite, because every kill costs several starts: about five minutes for ten kills.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from safetensors.torch import load_file

CELLS, STEPS = 4, 1_000_000
UNITS = CELLS * (1 + 1 + 2)  # each by itself, with heuristics, and with the teams of both methods
STUDY = f"""\
games: [reaching]
methods: [base, independent]
seeds: 0-1
overrides:
  model: {{ hidden: [32] }}
  data: {{ steps: {STEPS} }}
  checkpoints: {{ every: 20_000 }}
  cross_play: {{ every: 200_000, episodes: 2, final_episodes: 4 }}
  plastic: {{ every: 0, episodes: 1 }}
evaluation: {{ episodes: 8, generated_episodes: 4, cross_play_episodes: 16 }}
"""
TABLES = ("cross_play.csv", "episodes.csv", "strategies.csv")


def start(file: Path, folder: Path) -> subprocess.Popen:
    """Start the study in a process of its own."""
    command = [sys.executable, "-m", "brdiv", "study", str(file), "--folder", str(folder), "--jobs", "2"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def run_through(file: Path, folder: Path) -> float:
    """Let the study run to its end; returns how long it took."""
    began = time.monotonic()
    process = start(file, folder)
    printed = process.communicate()[0]
    assert process.returncode == 0, printed
    return time.monotonic() - began


def states(folder: Path) -> dict[str, str]:
    """How every cell stands, by its path."""
    return {
        str(path.relative_to(folder / "cells").with_suffix("")): json.loads(path.read_text())["state"]
        for path in sorted(folder.glob("cells/*/*/seed*.json"))
    }


def trained_at_once(folder: Path) -> list[str]:
    """Cells that several processes are training at this moment."""
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout.splitlines()
    runs = [line.split("--run ")[1].split()[0] for line in listed if "study.child fit" in line and str(folder) in line]
    return [run for run in set(runs) if runs.count(run) > 1]


def progress(folder: Path) -> float:
    """How far a study is, from 0 to 1: training counts for four fifths of it, evaluation for the rest."""
    newest: dict[Path, int] = {}
    for path in folder.glob("cells/*/*/*/checkpoints/step_*.ckpt"):
        newest[path.parent] = max(newest.get(path.parent, 0), int(path.stem.removeprefix("step_")))
    ledgers = folder.glob("evaluation/*/measured.jsonl")
    measured = sum(len(path.read_text().splitlines()) for path in ledgers)
    return 0.8 * sum(newest.values()) / (CELLS * STEPS) + 0.2 * measured / UNITS


def kill_when(process: subprocess.Popen, reached: float, delay: float, folder: Path) -> bool:
    """Kill the study's own process a moment after it has come so far; watch that no cell is trained twice at once."""
    while progress(folder) < reached:
        if process.poll() is not None:
            return False
        assert not trained_at_once(folder), "two processes train one cell"
        time.sleep(0.1)
    try:
        process.wait(delay)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return True
    return False


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
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    luck = random.Random(options.seed)
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as temporary:
        file, whole, killed = (Path(temporary, name) for name in ("study.yaml", "whole", "killed"))
        file.write_text(STUDY)
        seconds = run_through(file, whole)
        print(f"the whole study took {seconds:.0f} s", flush=True)
        done: dict[str, int] = {}
        for kill, moment in enumerate(sorted(luck.uniform(0.0, 0.99) for _ in range(options.kills)), 1):
            process = start(file, killed)
            # Come so far already, a study is killed while it starts.
            delay = luck.uniform(0.0, 10.0 if progress(killed) >= moment else 0.5)
            if not kill_when(process, moment, delay, killed):
                raise SystemExit(f"the study ended with code {process.returncode}, before kill {kill}")
            print(f"kill {kill} at {progress(killed):.0%}: {states(killed)}", flush=True)
            for name, state in states(killed).items():
                population = killed / "cells" / name / "population.safetensors"
                if state == "done":  # what is done is never touched again
                    assert done.setdefault(name, population.stat().st_mtime_ns) == population.stat().st_mtime_ns, name
        run_through(file, killed)
        for name, written in done.items():
            assert (killed / "cells" / name / "population.safetensors").stat().st_mtime_ns == written, name
        count = compare(killed, whole)
        print(f"{options.kills} kills: {count} populations and all tables bit for bit the same, none lost")


if __name__ == "__main__":
    main()
