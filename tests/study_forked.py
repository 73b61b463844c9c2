"""Commands in processes of their own, and the runs of their studies, forked from one that has imported everything."""

import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from brdiv.parent import PARENT, end_with

NAME = 15  # PR_SET_NAME of Linux's prctl


class Forked:
    """`brdiv` with some arguments; what it prints goes to a file."""

    def __init__(self, arguments: list[str]) -> None:
        import brdiv.commands.line.learning
        import brdiv.commands.report
        import brdiv.commands.study
        import brdiv.report
        import brdiv.study.run  # noqa: F401

        handle, self.log = tempfile.mkstemp(suffix=".log")
        self.process = multiprocessing.get_context("fork").Process(target=be, args=(arguments, handle))
        self.process.start()
        os.close(handle)

    def poll(self) -> int | None:
        """How it ended, if it has: an exit code, or less than zero if a signal did it."""
        return self.process.exitcode

    def wait(self, seconds: float | None = None) -> int | None:
        """Wait for its end."""
        self.process.join(seconds)
        return self.poll()

    def send_signal(self, signum: int) -> None:
        """Send it a signal, if it is still there."""
        if self.process.exitcode is None:
            os.kill(self.process.pid, signum)

    def said(self) -> str:
        """What it printed."""
        return Path(self.log).read_text(errors="replace")


def as_at_first() -> None:
    """Forget the handlers of signals that whoever forked this process had."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.default_int_handler if each == signal.SIGINT else signal.SIG_DFL)


def be(arguments: list[str], handle: int) -> None:
    """Be the command, whose runs and workers are forked, too."""
    from brdiv.commands import main
    from brdiv.study import attempt, measuring

    as_at_first()
    for descriptor in (1, 2):
        os.dup2(handle, descriptor)
    names = {name: getattr(subprocess, name) for name in ("DEVNULL", "STDOUT", "TimeoutExpired")}
    attempt.subprocess = SimpleNamespace(Popen=ForkedRun, **names)
    measuring.begin_worker = partial(begin_forked_worker, measuring.begin_worker)
    measuring.multiprocessing = SimpleNamespace(get_context=lambda kind: multiprocessing.get_context("fork"))
    multiprocessing.current_process()._config["daemon"] = False
    sys.argv = ["brdiv", *arguments]
    main(arguments)


def begin_forked_worker(begin: Callable[..., None], *how: Any) -> None:
    """Begin as a worker does that was not forked: it does not listen as its parent does."""
    as_at_first()
    begin(*how)


class ForkedRun:
    """What a study knows of `subprocess.Popen`, but forked."""

    def __init__(self, command: list[str], stdout: Any, env: dict[str, str], **rest: Any) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        self.code: int | None = None
        if self.pid == 0:
            code = 1
            try:
                code = train(command, stdout.fileno(), env[PARENT])
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)

    def poll(self) -> int | None:
        """How it ended, if it has."""
        return self.reap(os.WNOHANG)

    def wait(self, seconds: float | None = None) -> int:
        """Wait for its end; nobody here is impatient."""
        return self.reap(0)

    def reap(self, how: int) -> Any:
        """Ask after its end."""
        if self.code is None:
            pid, status = os.waitpid(self.pid, how)
            self.code = os.waitstatus_to_exitcode(status) if pid else None
        return self.code

    def send_signal(self, signum: int) -> None:
        """Send it a signal."""
        os.kill(self.pid, signum)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


def train(command: list[str], output: int, parent: str) -> int:
    """Be `python -m brdiv fit ...`, under the name of its cell; returns its exit code."""
    from brdiv.commands import main

    os.setsid()
    as_at_first()
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    run = Path(command[command.index("--run") + 1])
    ctypes.CDLL(None).prctl(NAME, f"cell:{run.parent.name[:5]}:{run.name[4:]}".encode(), 0, 0, 0)
    arguments = command[command.index("fit") :]
    sys.argv = ["brdiv", *arguments]
    try:
        end_with(*map(int, parent.split(":")))  # pid and signal
        main(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
