"""A whole study: cells are trained, then everything that was trained is evaluated."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from brdiv.study.attempt import take_lock
from brdiv.study.cells import DONE, FAILED, Cell, State
from brdiv.study.local import Interrupts, Pool, missing, train_cells
from brdiv.study.measuring import evaluate_cells
from brdiv.study.plan import Study
from brdiv.study.record import record_study, record_versions
from brdiv.study.settings import Resolved, keep_settings
from brdiv.study.units import load
from brdiv.study.view import View, described


def planned_steps(cells: Sequence[Cell], resolved: Mapping[str, Resolved]) -> dict[Cell, int]:
    """Environment steps of each cell's whole run."""
    return {cell: resolved[f"{cell.game}/{cell.method}"].steps for cell in cells}


def train_all(
    cells: Sequence[Cell], resolved: Mapping[str, Resolved], pool: Pool, jobs: int, retry: bool
) -> list[tuple[Cell, State]]:
    """Train what is missing; returns how every cell stands in the end."""
    for cell in cells:
        keep_settings(cell.settings, resolved[f"{cell.game}/{cell.method}"].settings)
        settle(cell)
    todo = missing(cells, retry)
    view = View(cells, planned_steps(cells, resolved), jobs)
    view.say(f"{len(cells)} cells: {len(cells) - len(todo)} need nothing, {len(todo)} to train, {jobs} at a time")
    try:
        with Interrupts(), view, closing(train_cells(todo, pool, view.look)) as ended:
            for cell, state in ended:
                view.ended(cell, state)
    except KeyboardInterrupt:
        stopped = [(cell, state) for cell in todo if (state := cell.state()).state not in {DONE, FAILED}]
        for cell, state in stopped:
            if state.attempts:
                view.say(f"{cell.name}: {described(state)}")
        view.say(f"stopped with {len(stopped)} cells to go; the same command resumes them")
        raise
    return [(cell, cell.state()) for cell in cells]


def settle(cell: Cell) -> State:
    """Find out how a cell stands, unless someone is training it."""
    lock = take_lock(cell.lock)
    if lock is None:
        return cell.state()
    try:
        return cell.settle()
    finally:
        lock.close()


def run_whole(
    study: Study,
    resolved: Mapping[str, Resolved],
    folder: Path,
    pool: Pool,
    jobs: int,
    retry: bool,
    command: str,
    allow_imports: bool = False,
) -> list[tuple[Cell, State]]:
    """Train what is missing and evaluate what is there; returns how every cell stands.

    What was trained just now may import what its config named; what lay there before, only with ``allow_imports``.
    """
    cells = study.cells(folder)
    there_before = {cell for cell in cells if cell.begun and settle(cell).state == DONE}
    for cell in there_before:
        load(cell.run.population, allow_imports)  # what can't be evaluated is refused now, and not after training
    record_study(study, resolved, folder)
    record_versions(folder, command)
    ended = train_all(cells, resolved, pool, jobs, retry)
    done = [cell for cell, state in ended if state.state == DONE]
    with Interrupts():
        trusted = {cell for cell in done if allow_imports or cell not in there_before}
        evaluate_cells(done, folder / "evaluation", study.evaluation, jobs, imports=trusted)
    return ended
