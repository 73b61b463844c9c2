"""Freeze one of two processes that train together, and see the other one end in time, with a message: `make faults`.

Not a test of the suite: the time in which a process must answer has to be longer than a crowded machine takes.
"""

import argparse
import functools
import os
import signal
import socket
import tempfile
import time
from pathlib import Path

from brdiv.runs import RunFolder, read_checkpoint
from tests.forked import Run

SETTINGS = [
    "--config",
    "reaching",
    "--model.hidden",
    "[8]",
    "--data.self_play_rows",
    "4",
    "--data.cross_play_rows",
    "4",
]
SETTINGS += ["--trainer.accelerator", "cpu", "--trainer.devices", "2", "--threads", "1", "--model.products", "blas"]
SETTINGS += ["--data.steps", "50_000_000", "--checkpoints.every", "640", "--trainer.strategy=DDPStrategy"]
SLACK = 60.0  # seconds within which a process that has waited long enough must be gone


def free_port() -> str:
    """A port that nobody uses."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


def freeze(run: Path, seconds: int) -> float:
    """Train in two processes, freeze the second, and return how long the first waited for it."""
    meeting = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port(), "WORLD_SIZE": "2"}
    timeout = f"--trainer.strategy.timeout=0:{seconds // 60:02}:{seconds % 60:02}"
    first, second = (
        Run(
            [*SETTINGS, timeout, "--run", str(run)],
            doom=functools.partial(os.environ.update, {**meeting, "RANK": str(rank), "LOCAL_RANK": str(rank)}),
        )
        for rank in range(2)
    )
    while not RunFolder(run).numbered_checkpoints():
        assert first.poll() is None, first.said()
        assert second.poll() is None, second.said()
        time.sleep(0.1)
    second.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    code = first.wait(seconds + SLACK)
    waited = time.monotonic() - began
    second.send_signal(signal.SIGKILL)
    assert code == 2, (code, first.said())
    assert "did not answer in time" in first.said(), first.said()
    assert "resume with" in first.said(), first.said()
    for path in RunFolder(run).numbered_checkpoints().values():
        read_checkpoint(path)
    return waited


def main() -> None:
    """Freeze, wait, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=30, help="in which processes must answer each other")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        waited = freeze(Path(folder, "run"), wanted.seconds)
    print(f"with a timeout of {wanted.seconds} s, a process ended {waited:.0f} s after its partner was frozen")


if __name__ == "__main__":
    main()
