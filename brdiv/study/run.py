"""A whole study: cells are trained, and every game is evaluated as soon as all of its cells have ended."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from brdiv.errors import UserError
from brdiv.study.attempt import take_lock
from brdiv.study.cells import DONE, FAILED, Cell, State
from brdiv.study.local import Interrupts, LocalPool, Pool, missing, train_cells
from brdiv.study.measuring import Evaluation
from brdiv.study.plan import Study
from brdiv.study.record import record_study, record_versions
from brdiv.study.settings import Resolved, keep_settings
from brdiv.study.units import load, load_trained, trained_learners
from brdiv.study.view import View, described


class Jobs(NamedTuple):
    """How many things are done at a time."""

    cells: int  # trained, wherever that is
    units: int  # measured, on this machine


def planned_steps(cells: Sequence[Cell], resolved: Mapping[str, Resolved]) -> dict[Cell, int]:
    """Environment steps of each cell's whole run."""
    return {cell: resolved[cell.group].steps for cell in cells}


class Beside:
    """Has games evaluated, none of whose cells is left to train, beside the training of the others.

    On this machine that takes half of the places in which cells would be trained, for as long as there is something to
    measure; of a cluster's it takes none.
    """

    def __init__(self, evaluation: Evaluation, pool: Pool, trusted: Callable[[Cell], bool]) -> None:
        self.evaluation, self.pool, self.trusted = evaluation, pool, trusted
        self.states: dict[Cell, State] = {}
        self.left: set[Cell] = set()

    def begin(self, cells: Sequence[Cell], todo: Collection[Cell]) -> None:
        """Learn which cells there are, and which of them are left to train."""
        self.states, self.left = {cell: cell.state() for cell in cells}, set(todo)
        for game in dict.fromkeys(cell.game for cell in cells):
            self.evaluate_if_ended(game)

    def ended(self, cell: Cell, state: State) -> None:
        """Learn how a cell has ended: what its file says may be older, where another machine wrote it."""
        self.states[cell] = state
        self.left.discard(cell)
        self.evaluate_if_ended(cell.game)

    def evaluate_if_ended(self, game: str) -> None:
        """Have the cells of a game that are done evaluated if none of it is left to train."""
        if all(cell.game != game for cell in self.left):
            done = [cell for cell, state in self.states.items() if cell.game == game and state.state == DONE]
            self.evaluation.add(done, {cell for cell in done if self.trusted(cell)})

    def step(self) -> None:
        """Go on with the evaluation, where there is room."""
        room = wanted = self.evaluation.wanted
        if isinstance(self.pool, LocalPool):
            threads = max(1, self.evaluation.jobs // self.pool.jobs)  # of a cell
            self.pool.aside = max(1, self.pool.jobs // 2) if wanted else 0
            room = min(wanted, threads * (self.pool.jobs - len(self.pool.running)))
        deadline = time.monotonic() + 1.0
        self.evaluation.step(room)
        while self.evaluation.current is not None and room > 0 and (left := deadline - time.monotonic()) > 0:
            self.evaluation.step(room, left)  # units are short: not one a look


def train_all(
    cells: Sequence[Cell],
    resolved: Mapping[str, Resolved],
    pool: Pool,
    jobs: int,
    retry: bool,
    beside: Beside | None = None,
) -> list[tuple[Cell, State]]:
    """Train what is missing; returns how every cell stands in the end."""
    for cell in cells:
        keep_settings(cell.settings, resolved[cell.group].settings)
        settle(cell)
    todo = missing(cells, retry)
    view = View(cells, planned_steps(cells, resolved), jobs)
    view.say(f"{len(cells)} cells: {len(cells) - len(todo)} need nothing, {len(todo)} to train, {jobs} at a time")

    def look(running: Sequence[Cell]) -> None:
        view.look(running)
        if beside is not None:
            beside.step()

    known: dict[Cell, State] = {}  # because a file that another machine wrote may appear here later
    try:
        with Interrupts(), view, closing(train_cells(todo, pool, look)) as ended:
            if beside is not None:
                beside.evaluation.say = view.say
                beside.begin(cells, todo)
            for cell, state in ended:
                known[cell] = state
                view.ended(cell, state)
                if beside is not None:
                    beside.ended(cell, state)
    except KeyboardInterrupt:
        states = [(cell, known.get(cell) or cell.state()) for cell in todo]
        stopped = [(cell, state) for cell, state in states if state.state not in {DONE, FAILED}]
        for cell, state in stopped:
            if state.attempts:
                view.say(f"{cell.name}: {described(state)}")
        view.say(
            f"stopped with {len(stopped)} cells to go; the same command resumes them, "
            "and with --evaluate it measures those that are done"
        )
        raise
    return [(cell, known.get(cell) or cell.state()) for cell in cells]


def settle(cell: Cell) -> State:
    """Find out how a cell stands, unless someone is training it or nobody ever did."""
    if not cell.state_file.exists() and not cell.run.path.exists():
        return cell.state()
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
    jobs: Jobs,
    retry: bool,
    command: str,
    allow_imports: bool = False,
) -> list[tuple[Cell, State]]:
    """Train what is missing and evaluate what is there; returns how every cell stands.

    What was trained just now may import what its config named; what lay there before, only with ``allow_imports``.
    """
    cells = study.cells(folder)
    there_before = {cell for cell in cells if cell.begun and settle(cell).state == DONE}
    check_imports(there_before, allow_imports)
    record_study(study, resolved, folder)
    record_versions(folder, command)
    with closing(Evaluation(folder / "evaluation", study.evaluation, jobs.units)) as evaluation:
        beside = Beside(evaluation, pool, lambda cell: allow_imports or cell not in there_before)
        ended = train_all(cells, resolved, pool, jobs.cells, retry, beside)
        with Interrupts():
            evaluation.finish()
    return ended


def evaluate_done(
    study: Study,
    resolved: Mapping[str, Resolved],
    folder: Path,
    jobs: int,
    command: str,
    allow_imports: bool = False,
) -> list[tuple[Cell, State]]:
    """Evaluate the cells that are done, whatever is to become of the others; returns how every cell stands."""
    cells = study.cells(folder)
    ended = [(cell, settle(cell)) for cell in cells]
    done = [cell for cell, state in ended if state.state == DONE]
    if not done:
        raise UserError(f"{folder}: no cell is done, so there is nothing to evaluate")
    check_imports(done, allow_imports)
    record_study(study, resolved, folder)
    record_versions(folder, command)
    with Interrupts(), closing(Evaluation(folder / "evaluation", study.evaluation, jobs)) as evaluation:
        for game in dict.fromkeys(cell.game for cell in done):
            mine = [cell for cell in done if cell.game == game]
            evaluation.add(mine, mine if allow_imports else ())
        evaluation.finish()
    return ended


def check_imports(cells: Collection[Cell], allow_imports: bool) -> None:
    """Refuse populations and learners that can't be evaluated now, and not after hours of training."""
    for cell in cells:
        (load_trained if cell.learner else load)(cell.result, allow_imports)
    trained_learners(cells, cells if allow_imports else ())
