"""Runs in processes of their own, for tests."""

import subprocess
import time
from pathlib import Path


def wait_for_a_checkpoint(process: subprocess.Popen, run: Path, seconds: float = 200) -> None:
    """Wait until a run has begun to train in earnest."""
    deadline = time.monotonic() + seconds
    while not list(run.glob("checkpoints/step_*.ckpt")):
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.2)


def children(process: subprocess.Popen) -> list[int]:
    """The pids of the processes that one has started."""
    found = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=False).stdout
    return [int(pid) for pid in found.split()]


def alive(pid: int) -> bool:
    """Whether a process runs: one that has ended, but is not yet collected, doesn't."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
