"""Evaluation as part of a study: games are measured one after the other, while cells of others may still be trained."""

import contextlib
import importlib
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from io import TextIOWrapper
from pathlib import Path

from brdiv.errors import UserError
from brdiv.parent import end_with
from brdiv.study.attempt import POLL, take_lock
from brdiv.study.cells import Cell
from brdiv.study.plan import Measuring
from brdiv.study.tidy import Tidy
from brdiv.study.units import Rows, Unit, game_modules, measure, units_of
from brdiv.text import plain

LINES = 30.0  # seconds between two lines on how far it is


class GameEvaluation:
    """What is not yet measured on one game: so many units at a time in other processes, or one at a time in this one.

    A unit needs no other, so whoever stops loses only those that are being measured.
    """

    def __init__(self, units: Sequence[Unit], folder: Path, how: Measuring, jobs: int) -> None:
        self.name, self.how = folder.name, how
        self.tidy = Tidy(folder, units, how)
        self.todo = deque(self.tidy.missing)
        self.total, self.began = len(self.todo), time.monotonic()
        self.running: dict[Future[Rows], Unit] = {}
        self.pool: ProcessPoolExecutor | None = None
        if jobs > 1 and self.todo:
            start = (os.getpid(), game_modules(units))
            context = multiprocessing.get_context("spawn")
            self.pool = ProcessPoolExecutor(jobs, context, initializer=begin_worker, initargs=start)

    @property
    def left(self) -> int:
        """How many units are not measured yet."""
        return len(self.todo) + len(self.running)

    def step(self, room: int, seconds: float) -> None:
        """Let so many units be measured at a time; take in those that are done, waiting for one at most so long."""
        if self.pool is None:
            if self.todo and room > 0:
                self.tidy.add(self.todo[0], measure(self.todo[0], self.how))
                self.todo.popleft()
            return
        while self.todo and len(self.running) < room:
            unit = self.todo.popleft()
            self.running[self.pool.submit(measure, unit, self.how)] = unit
        for future in wait(self.running, seconds, FIRST_COMPLETED).done:
            unit = self.running.pop(future)
            self.tidy.add(unit, future.result())

    def close(self) -> None:
        """Begin no further unit, keep those that were being measured, and write the tables in their order."""
        if self.pool is not None:
            self.pool.shutdown(cancel_futures=True)  # waits for units that have begun
            for future, unit in self.running.items():
                if future.done() and not future.cancelled() and future.exception() is None:
                    self.tidy.add(unit, future.result())
            self.running.clear()
        if self.total:
            self.tidy.write()


def begin_worker(parent: int, modules: Collection[str]) -> None:
    """Make a process that measures end with its parent, which alone hears of Ctrl-C, and know the games that it knows.

    So a population that its parent could load without importing anything, it can load too.
    """
    end_with(parent, signal.SIGTERM)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for module in modules:
        importlib.import_module(module)


class Evaluation:
    """Evaluates games in the order in which they are added.

    A game that can't be evaluated is no reason to stop the training of others: ``finish`` says what was wrong.

    Args:
        folder: Where the tables go, a folder for each game.
        how: How many episodes, and with which random numbers.
        jobs: How many units to measure at a time once nothing is trained any more.
        say: Is told how far it is.

    """

    def __init__(self, folder: Path, how: Measuring, jobs: int, say: Callable[[str], None] = print) -> None:
        self.folder, self.how, self.jobs, self.say = folder, how, jobs, say
        self.waiting: deque[tuple[list[Cell], Collection[Cell]]] = deque()
        self.game = ""  # that was begun last
        self.current: GameEvaluation | None = None
        self.lock: TextIOWrapper | None = None
        self.problems: list[str] = []
        self.said = self.asked = 0.0

    @property
    def wanted(self) -> int:
        """How many cores it takes from cells that are still to be trained: half, while there is something to do.

        While another process is at it this one can only wait, and takes none.
        """
        elsewhere = self.lock is None and self.asked > 0
        idle = self.current is None and (elsewhere or not self.waiting)
        return 0 if idle else max(1, self.jobs // 2)

    @property
    def running(self) -> int:
        """How many units are being measured beside this process."""
        return len(self.current.running) if self.current is not None else 0

    def add(self, cells: Sequence[Cell], imports: Collection[Cell] = ()) -> None:
        """Evaluate a game of which these cells are done.

        What population files name is imported only for cells among ``imports``.
        """
        if cells:
            self.waiting.append((list(cells), imports))

    def step(self, room: int, seconds: float = 0.0) -> None:
        """Go on with so many units at a time, without waiting for any longer than told."""
        begins = self.current is None and bool(self.waiting) and self.locked()
        try:
            if begins:
                self.begin(*self.waiting.popleft())
            if self.current is not None:
                self.current.step(room, seconds)
                self.tell()
                if not self.current.left:
                    self.end()
        except Exception as error:  # a game's own code may raise anything
            self.problems.append(self.what_is_wrong(error))
            self.say(f"evaluation: {self.problems[-1]}")
            with contextlib.suppress(OSError):  # what can't be written is measured again
                self.end()

    def what_is_wrong(self, error: Exception) -> str:
        """Say in one line why a game can't be evaluated."""
        if isinstance(error, BrokenProcessPool):
            return "a process that measured ended, killed perhaps for want of memory; run it again"
        return str(error) if isinstance(error, UserError) else plain(f"{self.game}: {type(error).__name__}: {error}")

    def locked(self) -> bool:
        """Whether no other process evaluates this study; asks again only after some time."""
        if self.lock is None and time.monotonic() - self.asked > 25 * POLL:
            self.lock = take_lock(self.folder / ".lock")
            if self.lock is None and not self.asked:
                self.say("evaluation: another process is at it; waiting")
            self.asked = time.monotonic()
        return self.lock is not None

    def begin(self, cells: list[Cell], imports: Collection[Cell]) -> None:
        """Find out what is missing of a game."""
        self.game = cells[0].game
        folder = self.folder / self.game
        self.current = GameEvaluation(list(units_of(cells, imports)), folder, self.how, self.jobs)
        self.said = time.monotonic()
        if self.current.total:
            all_units = len(self.current.tidy.units)
            self.say(
                f"evaluation of {folder.name}: {self.current.total} of {all_units} measurements to do, in {folder}"
            )

    def tell(self) -> None:
        """Say how far it is, if it is time, or that it is over."""
        game = self.current
        if game is None or not game.total:
            return
        if not game.left:
            self.say(f"evaluation of {game.name}: {game.total} measurements in {time.monotonic() - game.began:.0f} s")
        elif time.monotonic() - self.said > LINES:
            self.said = time.monotonic()
            self.say(f"evaluation of {game.name}: {game.total - game.left} of {game.total} done")

    def end(self) -> None:
        """Leave the game that is being evaluated, whether it is through or not."""
        game, self.current = self.current, None
        try:
            if game is not None:
                game.close()
        finally:
            if not self.waiting and self.lock is not None:
                self.lock.close()
                self.lock, self.asked = None, 0.0

    def finish(self) -> None:
        """Evaluate all that is left, with all cores; then say what could not be."""
        while self.current is not None or self.waiting:
            self.step(self.jobs, 5 * POLL)
            if self.current is None and self.waiting:
                time.sleep(POLL)
        if self.problems:
            raise UserError(f"not all was evaluated: {'; '.join(self.problems)}")

    def close(self) -> None:
        """Stop. What is measured is kept."""
        self.waiting.clear()
        self.end()
