"""Runs of `brdiv fit` in processes of their own, forked from one that has imported everything and computed nothing.

That saves most of what a start costs, and lets a run be killed exactly inside a write.
"""

import io
import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch


class Run:
    """A process that trains; `doom` changes something in it before it begins."""

    def __init__(self, arguments: Sequence[str], doom: Callable[[], None] = lambda: None) -> None:
        import brdiv.commands.line.training  # noqa: F401

        handle, self.log = tempfile.mkstemp(suffix=".stderr")
        how = (list(arguments), handle, doom)
        self.process = multiprocessing.get_context("fork").Process(target=fit, args=how, daemon=True)
        self.process.start()
        os.close(handle)
        self.pid = self.process.pid

    def poll(self) -> int | None:
        """How it ended, if it has: an exit code, or less than zero if a signal did it."""
        return self.process.exitcode

    def wait(self, seconds: float | None = None) -> int | None:
        """Wait for its end, so long at most."""
        self.process.join(seconds)
        return self.poll()

    def send_signal(self, signum: int) -> None:
        """Send it a signal."""
        os.kill(self.process.pid, signum)

    def said(self) -> str:
        """What it wrote to its standard error."""
        return Path(self.log).read_text(errors="replace")


def fit(arguments: list[str], handle: int, doom: Callable[[], None]) -> None:
    """Be the command `brdiv fit`."""
    from brdiv.commands import main

    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # a shell has some ignored in the background
        signal.signal(each, signal.default_int_handler if each == signal.SIGINT else signal.SIG_DFL)
    os.dup2(handle, 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.argv = ["brdiv", "fit", *arguments]
    doom()
    main(["fit", *arguments])


def die_inside_checkpoint(number: int) -> None:
    """Have this process killed when half of its checkpoint of this number is written."""
    whole, left = torch.save, [number]

    def half(value: Any, path: Path, *arguments: Any, **options: Any) -> None:
        left[0] -= 1
        if left[0]:
            whole(value, path, *arguments, **options)
        else:
            file = io.BytesIO()
            whole(value, file)
            die_writing(path, file.getvalue())

    torch.save = half


def die_inside_export() -> None:
    """Have this process killed when half of its population file is written."""
    whole = Path.write_bytes

    def half(path: Path, data: bytes) -> int:
        return die_writing(path, data) if "population" in path.name else whole(path, data)

    Path.write_bytes = half


def die_writing(path: Path, data: bytes) -> int:
    """Write half of a file, and be killed."""
    with open(path, "wb") as file:
        file.write(data[: len(data) // 2])
    os.kill(os.getpid(), signal.SIGKILL)
    return 0
