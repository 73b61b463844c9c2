"""Kill, stop and freeze a run at random moments, resume, and compare with one that was left alone: `make faults`.

Not a test of the suite, because every fault costs a start. On Level-Based Foraging, with checkpoints, matrices and
PLASTIC due together, so that many a fault strikes inside a write.
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

from tests.processes import alive, children

SETTINGS = ["--config", "lbf", "--model.hidden", "[32]", "--model.critic_hidden", "[32]", "--threads", "1"]
SETTINGS += ["--data.self_play_rows", "16", "--data.cross_play_rows", "16", "--data.steps", "600_000"]
SETTINGS += ["--checkpoints.every", "15_000", "--cross_play.every", "15_000", "--cross_play.episodes", "2"]
SETTINGS += ["--cross_play.final_episodes", "8", "--plastic.every", "15_000", "--plastic.episodes", "1"]
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE = 120.0  # seconds in which a run that was asked to stop must have ended


def start(run: Path, *arguments: str) -> subprocess.Popen:
    """Start `brdiv fit` in a process of its own."""
    command = [sys.executable, "-m", "brdiv", "fit", *SETTINGS, "--run", str(run), *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def logged(run: Path) -> dict[str, list[tuple[int, float]]]:
    """Scalars of a run by name, those that depend on the clock left out."""
    events = EventAccumulator(str(run), size_guidance={"scalars": 0}).Reload()
    tags = [tag for tag in events.Tags()["scalars"] if not tag.startswith("throughput")]
    return {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in tags}


def checkpoints(run: Path) -> list[str]:
    """Names of the checkpoints to resume from, oldest first."""
    return sorted(path.stem for path in run.glob("checkpoints/step_*.ckpt"))


def started(run: Path, logs: int, resuming: bool) -> bool:
    """Whether a process has begun to train; the first one must also leave a checkpoint to resume from."""
    return len(list(run.glob("events*"))) > logs and (resuming or bool(checkpoints(run)))


def strike(process: subprocess.Popen, fault: str, luck: random.Random) -> None:
    """Do one thing to a running process; all but a freeze end it."""
    if fault == "freeze":
        process.send_signal(signal.SIGSTOP)
        time.sleep(luck.uniform(0.1, 1.0))
        process.send_signal(signal.SIGCONT)
        return
    offspring = children(process)
    signum = signal.Signals[fault]
    process.send_signal(signum)
    _, said = process.communicate(timeout=PATIENCE)
    if signum in STOPS:
        assert process.returncode == 128 + signum, (fault, process.returncode, said)
        assert "resume with" in said, (fault, said)
    time.sleep(0.2)
    assert not any(alive(pid) for pid in offspring), f"{fault} left an orphan"


def inject(run: Path, faults: int, seconds: float, luck: random.Random) -> None:
    """Start and resume the run until it was struck so many times."""
    done = 0
    while done < faults:
        resuming, logs = bool(checkpoints(run)), len(list(run.glob("events*")))
        process = start(run, *(["--ckpt_path", "last"] if resuming else []))
        # A log file appears with the first update: most faults strike between updates or inside a write, one in ten
        # kills before anything was done.
        hurry = resuming and luck.random() < 0.1
        while not hurry and process.poll() is None and not started(run, logs, resuming):
            time.sleep(0.01)
        while process.poll() is None:
            fault = "SIGKILL" if hurry else luck.choice(["SIGKILL", "SIGKILL", "SIGINT", "SIGTERM", "SIGHUP", "freeze"])
            try:
                process.wait(luck.uniform(0.0, seconds / faults))
            except subprocess.TimeoutExpired:
                strike(process, fault, luck)
                done += 1
                print(f"fault {done}, {fault}: {checkpoints(run)[-1]}", flush=True)
                if fault == "freeze":
                    continue
            break
        if process.poll() == 0:
            raise SystemExit(f"the run ended before it was struck {faults} times")


def compare(struck: Path, whole: Path) -> None:
    """Hold the end of one run against that of the other, and look for leftovers."""
    ours, theirs = (load_file(run / "population.safetensors") for run in (struck, whole))
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs), "weights differ"
    rows = [list(csv.reader((run / "cross_play.csv").open())) for run in (struck, whole)]
    assert rows[0] == rows[1], "cross_play.csv differs"
    first, second = logged(struck), logged(whole)
    assert first == second, [tag for tag in second if first.get(tag) != second[tag]]
    left = [path for path in struck.rglob("*") if ".part" in path.name or path.name.startswith(".")]
    assert not left, f"left behind: {left}"
    print(f"weights bit for bit the same, no log step lost or doubled ({len(second)} scalars), nothing left behind")


def resume_twice(run: Path, times: int) -> None:
    """Resume one run in two processes at once: one must go on, the other be refused, and the folder stay whole."""
    for number in range(times):
        first, second = (start(run, "--ckpt_path", "last") for _ in range(2))
        loser = None
        while loser is None:
            loser = next((each for each in (first, second) if each.poll() is not None), None)
            time.sleep(0.05)
        said = loser.communicate()[1]
        assert loser.returncode == 2, said
        assert "is in use by another run" in said, said
        winner = second if loser is first else first
        assert winner.poll() is None
        logs = len(list(run.glob("events*")))
        while winner.poll() is None and not started(run, logs, True):
            time.sleep(0.05)
        winner.send_signal(signal.SIGTERM)
        winner.communicate(timeout=PATIENCE)
        print(f"two at once, {number + 1}: one went on to {checkpoints(run)[-1]}, one was refused", flush=True)


def main() -> None:
    """Strike, resume, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=30)
    parser.add_argument("--pairs", type=int, default=20, help="how often to resume in two processes at once")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    luck = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        whole, struck = Path(folder, "whole"), Path(folder, "struck")
        began = time.monotonic()
        process = start(whole)
        assert process.wait() == 0, process.communicate()[1]
        seconds = time.monotonic() - began
        print(f"the whole run took {seconds:.0f} s", flush=True)
        inject(struck, options.faults, seconds / 2, luck)
        resume_twice(struck, options.pairs)
        process = start(struck, "--ckpt_path", "last")
        assert process.wait() == 0, process.communicate()[1]
        compare(struck, whole)


if __name__ == "__main__":
    main()
