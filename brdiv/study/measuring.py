"""Evaluation as part of a study: units are measured in processes of this machine, and written by one."""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from brdiv.study.attempt import take_lock
from brdiv.study.cells import Cell
from brdiv.study.child import die_with
from brdiv.study.plan import Measuring
from brdiv.study.tidy import Tidy
from brdiv.study.units import Unit, measure, units_of

LINES = 30.0  # seconds between two lines on how far it is


def evaluate_cells(
    cells: Sequence[Cell], folder: Path, how: Measuring, jobs: int, say: Callable[[str], None] = print
) -> int:
    """Measure what is not yet measured of finished cells, game by game; returns how many units that were."""
    lock = take_lock(folder / ".lock")
    while lock is None:
        say("evaluation: another process is at it; waiting")
        time.sleep(5)
        lock = take_lock(folder / ".lock")
    try:
        return sum(
            evaluate_game([cell for cell in cells if cell.game == game], folder / game, how, jobs, say)
            for game in dict.fromkeys(cell.game for cell in cells)
        )
    finally:
        lock.close()


def begin_worker(parent: int) -> None:
    """Make a process that measures end with its parent, which alone hears of Ctrl-C."""
    die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def evaluate_game(cells: Sequence[Cell], folder: Path, how: Measuring, jobs: int, say: Callable[[str], None]) -> int:
    """Measure what is not yet measured on one game."""
    tidy = Tidy(folder, list(units_of(cells)), how)
    missing = tidy.missing
    if not missing:
        return 0
    say(f"evaluation of {folder.name}: {len(missing)} of {len(tidy.units)} measurements to do, in {folder}")
    began = said = time.monotonic()
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(jobs, len(missing)), context, initializer=begin_worker, initargs=(os.getpid(),))
    try:
        futures = {pool.submit(measure, unit, how): unit for unit in missing}
        for done, future in enumerate(as_completed(futures), 1):
            unit: Unit = futures[future]
            tidy.add(unit, future.result())
            if time.monotonic() - said > LINES:
                said = time.monotonic()
                say(f"evaluation of {folder.name}: {done} of {len(missing)} done")
    finally:
        pool.shutdown(cancel_futures=True)
    tidy.write()
    say(f"evaluation of {folder.name}: {len(missing)} measurements in {time.monotonic() - began:.0f} s")
    return len(missing)
