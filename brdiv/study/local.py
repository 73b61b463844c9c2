"""Cells in processes of this machine, so many at a time."""

import signal
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Protocol, Self

from brdiv.study.attempt import PATIENCE, POLL, Attempt
from brdiv.study.cells import DONE, FAILED, Cell, State


class Pool(Protocol):
    """Somewhere cells are trained."""

    @property
    def free(self) -> bool:
        """Whether another cell may be started."""

    @property
    def running(self) -> Sequence[Cell]:
        """Cells that were started and have not ended."""

    def start(self, cell: Cell) -> bool | State:
        """Start a cell. False if someone else is training it; its state if nothing is left to do."""

    def ended(self) -> list[tuple[Cell, State]]:
        """Return cells that have ended since the last time, and how."""

    def stop(self) -> None:
        """Have all cells save a checkpoint and end."""


class LocalPool:
    """Trains so many cells at a time in processes of this machine."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.aside = 0  # of these, kept for something else
        self.attempts: dict[Cell, Attempt] = {}

    @property
    def free(self) -> bool:
        """Whether another cell may be started."""
        return len(self.attempts) < self.jobs - self.aside

    @property
    def running(self) -> Sequence[Cell]:
        """Cells that were started and have not ended."""
        return list(self.attempts)

    def start(self, cell: Cell) -> bool | State:
        """Start a cell. False if someone else is training it; its state if nothing is left to do."""
        attempt = Attempt.begin(cell)
        if attempt is None or isinstance(attempt, State):
            return attempt or False
        self.attempts[cell] = attempt
        return True

    def ended(self) -> list[tuple[Cell, State]]:
        """Return cells that have ended since the last time, and how."""
        found = [(cell, state) for cell, attempt in self.attempts.items() if (state := attempt.poll()) is not None]
        for cell, _ in found:
            del self.attempts[cell]
        return found

    def stop(self) -> None:
        """Have all cells save a checkpoint and end, all at the same time; a second interrupt kills them."""
        for attempt in self.attempts.values():
            attempt.ask_to_stop()
        deadline = time.monotonic() + PATIENCE
        try:
            while self.attempts:
                cell, attempt = next(iter(self.attempts.items()))
                attempt.wait_to_stop(max(0.0, deadline - time.monotonic()))
                del self.attempts[cell]
        except KeyboardInterrupt:
            for attempt in self.attempts.values():
                attempt.kill()
            raise


class Interrupts:
    """Makes SIGTERM, which schedulers send, the same as Ctrl-C while it is entered."""

    def __enter__(self) -> Self:
        """Listen."""
        self.before = signal.signal(signal.SIGTERM, self.interrupt)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Listen no more."""
        signal.signal(signal.SIGTERM, self.before)

    @staticmethod
    def interrupt(signum: int, frame: object) -> None:
        """End what is being done."""
        raise KeyboardInterrupt


def train_cells(
    cells: Sequence[Cell], pool: Pool, look: Callable[[Sequence[Cell]], None] = lambda running: None
) -> Generator[tuple[Cell, State], None, None]:
    """Train cells that are not done, and yield each as it ends, with how it stands.

    One that needs another waits until that is done, and comes back untrained if it never will be.
    A cell that someone else is training, a process of a study that was killed, say, comes back later. ``look`` is
    called now and then with the cells that run. However this ends, so do all cells.
    """
    waiting, elsewhere = deque(cells), set[Cell]()
    known: dict[Cell, State] = {}  # because a file that another machine wrote may appear here later
    try:
        while waiting or pool.running:
            blocked = []
            while waiting and pool.free:
                cell = waiting.popleft()
                if cell.needs is not None and (known.get(cell.needs) or cell.needs.state()).state != DONE:
                    if cell.needs in waiting or cell.needs in blocked or cell.needs in pool.running:
                        blocked.append(cell)
                    else:
                        yield cell, replace(cell.state(), why=f"{cell.needs.name}, which it needs, is not done")
                    continue
                if cell in elsewhere and cell.state().state == FAILED:
                    yield cell, cell.state()
                    continue
                started = pool.start(cell)
                if isinstance(started, State):
                    known[cell] = started
                    yield cell, started
                elif not started:
                    elsewhere.add(cell)
                    blocked.append(cell)
            waiting.extendleft(reversed(blocked))
            look(pool.running)
            for cell, state in pool.ended():
                known[cell] = state
                yield cell, state
            if waiting or pool.running:
                time.sleep(POLL)
    finally:
        pool.stop()


def missing(cells: Sequence[Cell], retry: bool = False) -> list[Cell]:
    """Cells that are left to train: all that are not done, failed ones only if they are to be tried again."""
    skipped = {DONE} if retry else {DONE, FAILED}
    return [cell for cell in cells if cell.state().state not in skipped or lost(cell)]


def lost(cell: Cell) -> bool:
    """Whether a cell that was done is no longer there."""
    return cell.state().state == DONE and not cell.result.exists()
