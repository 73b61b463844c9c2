"""Evaluation as part of a study: units are measured in processes of this machine, and written by one."""

import importlib
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from brdiv.study.attempt import take_lock
from brdiv.study.cells import Cell
from brdiv.study.child import die_with
from brdiv.study.plan import Measuring
from brdiv.study.tidy import Tidy
from brdiv.study.units import Rows, Unit, game_modules, measure, units_of

LINES = 30.0  # seconds between two lines on how far it is


def evaluate_cells(
    cells: Sequence[Cell],
    folder: Path,
    how: Measuring,
    jobs: int,
    say: Callable[[str], None] = print,
    imports: Collection[Cell] = (),
) -> int:
    """Measure what is not yet measured of finished cells, game by game; returns how many units that were.

    What population files name is imported only for cells among ``imports``.
    """
    lock = take_lock(folder / ".lock")
    while lock is None:
        say("evaluation: another process is at it; waiting")
        time.sleep(5)
        lock = take_lock(folder / ".lock")
    try:
        return sum(
            evaluate_game(list(units_of([c for c in cells if c.game == game], imports)), folder / game, how, jobs, say)
            for game in dict.fromkeys(cell.game for cell in cells)
        )
    finally:
        lock.close()


def begin_worker(parent: int, modules: Collection[str]) -> None:
    """Make a process that measures end with its parent, which alone hears of Ctrl-C, and know the games that it knows.

    So a population that its parent could load without importing anything, it can load too.
    """
    die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for module in modules:
        importlib.import_module(module)


def evaluate_game(units: Sequence[Unit], folder: Path, how: Measuring, jobs: int, say: Callable[[str], None]) -> int:
    """Measure what is not yet measured on one game."""
    tidy = Tidy(folder, units, how)
    missing = tidy.missing
    if not missing:
        return 0
    say(f"evaluation of {folder.name}: {len(missing)} of {len(tidy.units)} measurements to do, in {folder}")
    began = said = time.monotonic()
    for done, (unit, rows) in enumerate(measure_all(missing, how, jobs), 1):
        tidy.add(unit, rows)
        if time.monotonic() - said > LINES:
            said = time.monotonic()
            say(f"evaluation of {folder.name}: {done} of {len(missing)} done")
    tidy.write()
    say(f"evaluation of {folder.name}: {len(missing)} measurements in {time.monotonic() - began:.0f} s")
    return len(missing)


def measure_all(units: Sequence[Unit], how: Measuring, jobs: int) -> Iterator[tuple[Unit, Rows]]:
    """Measure units, so many at a time, and yield each as it is done: one at a time in this process itself."""
    if jobs == 1:
        yield from ((unit, measure(unit, how)) for unit in units)
        return
    context = multiprocessing.get_context("spawn")
    start = (os.getpid(), game_modules(units))
    pool = ProcessPoolExecutor(min(jobs, len(units)), context, initializer=begin_worker, initargs=start)
    try:
        futures = {pool.submit(measure, unit, how): unit for unit in units}
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        pool.shutdown(cancel_futures=True)
