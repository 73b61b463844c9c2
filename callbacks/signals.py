"""Signals that ask a run to stop: the first is noted, a second ends it, even where the process waits for another."""

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from types import FrameType
from typing import Any

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
ECHO = 2.0  # seconds in which a signal may arrive again because several programs pass it on
GRACE = 5.0  # seconds in which a process that was asked twice may end by itself


class StopRequests:
    """Listens to Ctrl-C, SIGTERM and SIGHUP.

    Python runs a handler between two of its own instructions: never while it waits inside a library, for a process that
    is frozen say. So a thread hears of every signal, too, and ends the process if a second one goes unheeded.
    """

    def __init__(self) -> None:
        self.asked, self.asked_at = 0, 0.0
        self.closing = ""  # what is left to do, once nothing more is learned
        self.handlers: dict[int, Any] = {}
        self.pipe: tuple[int, int] | None = None
        self.heeded = False
        self.terminals: list[int] = []  # file numbers of those that this process writes to

    def listen(self) -> None:
        """Take the signals over, unless they are to be ignored, as `nohup` has it with SIGHUP."""
        if threading.current_thread() is not threading.main_thread():
            return
        self.terminals = find_terminals()
        wanted = [each for each in SIGNALS if signal.getsignal(each) is not signal.SIG_IGN]
        self.handlers = {each: signal.signal(each, self.ask) for each in wanted}
        self.pipe = os.pipe()
        os.set_blocking(self.pipe[1], False)
        signal.set_wakeup_fd(self.pipe[1], warn_on_full_buffer=False)
        threading.Thread(target=self.watch, args=(self.pipe[0],), daemon=True).start()

    def release(self) -> None:
        """Give the signals back."""
        for each, handler in self.handlers.items():
            signal.signal(each, handler)
        self.handlers = {}
        if self.pipe is not None:
            signal.set_wakeup_fd(-1)
            os.close(self.pipe[1])  # which ends the thread
            self.pipe = None

    def ask(self, signum: int, frame: FrameType | None = None) -> None:
        """Note it; whoever asks again later does not want to wait."""
        if signum == getattr(signal, "SIGHUP", None):
            let_go_of(self.terminals)
        if not self.asked:
            self.asked, self.asked_at = signum, time.monotonic()
            if self.closing:
                with suppress(OSError):
                    name = signal.Signals(signum).name
                    os.write(2, f"brdiv: {name}: {self.closing}; once more ends the run at once\n".encode())
        elif time.monotonic() - self.asked_at > ECHO:
            self.heeded = True
            self.release()
            raise KeyboardInterrupt

    def watch(self, pipe: int) -> None:
        """Hear of every signal in a thread of its own, and end the process if it can't answer the second."""
        first = 0.0
        with os.fdopen(pipe, "rb", buffering=0) as heard:
            while said := heard.read(1):
                if said[0] not in self.handlers:
                    continue
                now = time.monotonic()
                if not first:
                    first = now
                elif now - first > ECHO:
                    time.sleep(GRACE)
                    if not self.heeded:
                        with suppress(OSError):
                            os.write(2, b"brdiv: the process waits for another one, and was asked twice: it ends\n")
                        os._exit(128 + said[0])
                    return


def find_terminals() -> list[int]:
    """Find out which of our streams are terminals, while they are there: one that is gone says that it is none."""
    found = []
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            if stream.isatty():
                found.append(stream.fileno())
    return found


def let_go_of(terminals: list[int]) -> None:
    """Write to nowhere instead of a terminal that is gone: an error there would come before the checkpoint."""
    for number in terminals:
        with suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, number)
            os.close(nowhere)
