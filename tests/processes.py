"""Runs in processes of their own, for tests."""

import multiprocessing
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def wait_for_a_checkpoint(process: subprocess.Popen, run: Path, seconds: float = 200) -> None:
    """Wait until a run has begun to train in earnest."""
    deadline = time.monotonic() + seconds
    while not list(run.glob("checkpoints/step_*.ckpt")):
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.2)


def forked(function: Callable[..., None], *arguments: Any) -> multiprocessing.Process:
    """Run a function in a process of its own, which needs not import anything; it ends with the tests."""
    process = multiprocessing.get_context("fork").Process(target=function, args=arguments, daemon=True)
    process.start()
    return process


def kill_when(process: multiprocessing.Process, ready: Callable[[], Any], seconds: float = 200) -> None:
    """Kill a process with SIGKILL as soon as something is so."""
    deadline = time.monotonic() + seconds
    while not ready():
        assert process.is_alive(), "it ended by itself"
        assert time.monotonic() < deadline
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.join()


def children(process: subprocess.Popen) -> list[int]:
    """The pids of the processes that one has started."""
    found = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=False).stdout
    return [int(pid) for pid in found.split()]


def trainers(run: Path) -> list[int]:
    """The pids of the processes that train a run."""
    found = subprocess.run(["pgrep", "-f", "--", f"--run {run}"], capture_output=True, text=True, check=False).stdout
    return [int(pid) for pid in found.split()]


def catches(pid: int, signum: int) -> bool:
    """Whether a process has a handler of its own for a signal."""
    caught = re.search(r"SigCgt:\s+(\w+)", Path(f"/proc/{pid}/status").read_text())
    return caught is not None and bool(int(caught[1], 16) >> (signum - 1) & 1)


def alive(pid: int) -> bool:
    """Whether a process runs: one that has ended, but is not yet collected, doesn't."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
