"""Kill a run at random moments, resume each time, and compare with one that was left alone: `make faults`.

Not a test of the suite, because every kill costs a start: about three minutes for twenty kills.
"""

import argparse
import csv
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from safetensors.torch import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

SETTINGS = ["--config", "reaching", "--model.hidden", "[64,64]", "--data.steps", "6_000_000", "--threads", "1"]
SETTINGS += ["--checkpoints.every", "20_000", "--cross_play.every", "100_000", "--cross_play.episodes", "2"]
SETTINGS += ["--cross_play.final_episodes", "2", "--plastic.every", "0", "--plastic.episodes", "1"]


def start(run: Path, *arguments: str) -> subprocess.Popen:
    """Start `brdiv fit` in a process of its own."""
    command = [sys.executable, "-m", "brdiv", "fit", *SETTINGS, "--run", str(run), *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def logged(run: Path) -> dict[str, list[tuple[int, float]]]:
    """Scalars of a run by name, those that depend on the clock left out."""
    events = EventAccumulator(str(run), size_guidance={"scalars": 0}).Reload()
    tags = [tag for tag in events.Tags()["scalars"] if not tag.startswith("throughput")]
    return {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in tags}


def started(run: Path, logs: int, resuming: bool) -> bool:
    """Whether a process has begun to train; the first one must also leave a checkpoint to resume from."""
    return len(list(run.glob("events*"))) > logs and (resuming or bool(list(run.glob("checkpoints/step_*.ckpt"))))


def main() -> None:
    """Kill, resume, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    luck = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        whole, killed = Path(folder, "whole"), Path(folder, "killed")
        began = time.monotonic()
        assert start(whole).wait() == 0
        whole_time = time.monotonic() - began
        print(f"the whole run took {whole_time:.0f} s", flush=True)
        kills = 0
        while kills < options.kills:
            resuming = list(killed.glob("checkpoints/step_*.ckpt"))
            logs = len(list(killed.glob("events*")))
            process = start(killed, *(["--ckpt_path", "last"] if resuming else []))
            # A log file appears with the first update, a checkpoint some ten updates later: most kills strike between
            # updates or while one is written, one in ten before anything was done.
            hurry = resuming and luck.random() < 0.1
            while not hurry and process.poll() is None and not started(killed, logs, bool(resuming)):
                time.sleep(0.01)
            try:
                code = process.wait(luck.uniform(0.0, whole_time / options.kills))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                kills += 1
                newest = max(path.stem for path in killed.glob("checkpoints/step_*.ckpt"))
                print(f"kill {kills}: {newest}", flush=True)
            else:
                raise SystemExit(f"the run ended with code {code} before it was killed {options.kills} times")
        process = start(killed, "--ckpt_path", "last")
        assert process.wait() == 0, process.stderr and process.stderr.read()
        ours, theirs = (load_file(run / "population.safetensors") for run in (killed, whole))
        assert all(torch.equal(ours[name], theirs[name]) for name in theirs), "weights differ"
        rows = [list(csv.reader((run / "cross_play.csv").open())) for run in (killed, whole)]
        assert rows[0] == rows[1], "cross_play.csv differs"
        first, second = logged(killed), logged(whole)
        assert first == second, [tag for tag in second if first.get(tag) != second[tag]]
        print(f"{kills} kills: weights bit for bit the same, no log step lost or doubled ({len(second)} scalars)")


if __name__ == "__main__":
    main()
