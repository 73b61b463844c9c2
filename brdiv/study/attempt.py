"""One attempt at a cell: its lock is taken, its run started or resumed in a process of its own, its end noted."""

import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path

from brdiv.parent import as_parent
from brdiv.study.cells import DONE, FAILED, RUNNING, WAITING, Cell, State, now

ASKED_TO_STOP = {128 + signal.SIGINT, 128 + signal.SIGTERM, -signal.SIGINT, -signal.SIGTERM}
"""Exit codes of runs that were stopped, by whomever, and can be resumed."""

POLL = 0.2  # seconds between two looks at a process
PATIENCE = 120.0  # seconds that a run has to finish an update and save a checkpoint


class Attempt:
    """A process that trains a cell, and the lock that keeps others from doing so at the same time.

    The process inherits the lock. Should it outlive whoever started it, the cell stays locked until it is gone.
    """

    def __init__(self, cell: Cell, lock: TextIOWrapper, state: State) -> None:
        self.cell, self.lock, self.stopped = cell, lock, False
        self.before = state
        self.began = time.monotonic()
        resumed = self.clear_up()
        self.state = cell.write(
            replace(state, state=RUNNING, why="", attempts=state.attempts + 1, steps=resumed, started=now())
        )
        with cell.log.open("a") as log:
            print(f"--- attempt {self.state.attempts}, from step {resumed:,}", file=log, flush=True)
            self.process = subprocess.Popen(
                self.command(resumed),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=[lock.fileno()],
                env=as_parent(signal.SIGTERM),  # which leaves a checkpoint
                start_new_session=True,  # Ctrl-C is for the study, which asks its runs to stop, once
            )

    @classmethod
    def begin(cls, cell: Cell) -> "Attempt | State | None":
        """Start or resume a cell. None if someone else is training it; its state if there is nothing left to do."""
        lock = take_lock(cell.lock)
        if lock is None:
            return None
        state = cell.settle()
        if state.state == DONE:
            lock.close()
            return state
        return cls(cell, lock, state)

    def clear_up(self) -> int:
        """Return the step to resume from. What was killed before its first checkpoint is removed, to start anew."""
        kept = self.cell.run.numbered_checkpoints()
        if not kept and self.cell.run.path.exists():
            shutil.rmtree(self.cell.run.path)
        return max(kept, default=0)

    def command(self, resumed: int) -> list[str]:
        """Write the command that trains the cell."""
        cell = self.cell
        command = [sys.executable, "-m", "brdiv", "learn" if cell.learner else "fit"]
        command += cell.options or ("--config", str(cell.settings))
        if cell.needs is not None:
            command += ["--teammates", str(cell.needs.result)]
        command += ["--seed_everything", str(cell.seed), "--threads", str(cell.threads), "--run", str(cell.run)]
        return [*command, "--ckpt_path", "last"] if resumed else command

    def poll(self) -> State | None:
        """Return how the cell stands if the process has ended."""
        code = self.process.poll()
        return None if code is None else self.end(code)

    def end(self, code: int) -> State:
        """Note how the process ended, then let go of the cell."""
        state = replace(self.state, seconds=round(self.before.seconds + time.monotonic() - self.began, 1))
        kept = max(self.cell.run.numbered_checkpoints(), default=0)
        if code == 0:
            state = replace(state, state=DONE, steps=kept)
        elif self.stopped or code in ASKED_TO_STOP:
            state = replace(state, state=WAITING, steps=kept)
        else:
            state = replace(state, state=FAILED, why=why_it_failed(self.cell.log, code), steps=kept)
        self.cell.write(state)
        self.lock.close()
        return state

    def wait(self) -> State:
        """Wait for the end; an interrupt stops the run first."""
        try:
            while (state := self.poll()) is None:
                time.sleep(POLL)
        except BaseException:
            self.ask_to_stop()
            self.wait_to_stop()
            raise
        return state

    def ask_to_stop(self) -> None:
        """Ask the run to save a checkpoint and end."""
        if self.process.poll() is None:
            self.stopped = True
            self.process.send_signal(signal.SIGTERM)

    def wait_to_stop(self, seconds: float = PATIENCE) -> State:
        """Wait until the run has stopped; one that doesn't is killed."""
        try:
            return self.end(self.process.wait(seconds))
        except subprocess.TimeoutExpired:
            return self.kill()

    def kill(self) -> State:
        """End the run at once."""
        self.stopped = True
        self.process.kill()
        return self.end(self.process.wait())


def take_lock(path: Path) -> TextIOWrapper | None:
    """Take a lock that ends with whoever holds it, or return None where another process has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


def why_it_failed(log: Path, code: int) -> str:
    """Say why a run failed: its own error line, the signal that killed it, or the last thing it said."""
    text = tail(log).rpartition("--- attempt")[2]
    errors = re.findall(r"brdiv: error: .*", text)
    if errors:
        return str(errors[-1])
    if code < 0:
        memory = " (out of memory?)" if code == -signal.SIGKILL else ""
        return f"killed by {signal.Signals(-code).name}{memory}"
    lines = text.strip().splitlines()[1:]
    return lines[-1] if lines else f"exit code {code}"


def tail(path: Path, size: int = 16_384) -> str:
    """Read the end of a file; nothing where there is none."""
    try:
        with path.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - size))
            return file.read().decode(errors="replace")
    except OSError:
        return ""
