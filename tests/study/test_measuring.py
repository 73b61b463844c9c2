"""How evaluation shares the machine with the training of other games."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from brdiv.errors import UserError
from brdiv.games import Reaching
from brdiv.nets import Population
from brdiv.runs import save_population
from brdiv.study import measuring
from brdiv.study.attempt import take_lock
from brdiv.study.cells import DONE, Cell, State
from brdiv.study.local import LocalPool
from brdiv.study.measuring import Evaluation, GameEvaluation
from brdiv.study.plan import Measuring
from brdiv.study.run import Beside
from brdiv.study.tidy import LEDGER
from brdiv.study.units import measure, units_of

FEW = Measuring(episodes=2, generated_episodes=2, cross_play_episodes=2)


def rooms(cells, running, units):
    """Places that are left to train in, and units that may be measured, while so many cells are trained."""
    asked = []
    pool = LocalPool(cells)
    pool.attempts = dict.fromkeys(range(running))
    evaluation = SimpleNamespace(wanted=max(1, units // 2), jobs=units, current=None, step=asked.append)
    Beside(evaluation, pool, lambda cell: False).step()
    return pool.jobs - pool.aside, asked[0]


@pytest.mark.parametrize(
    ("cells", "units", "left"),
    [(8, 8, 4), (4, 8, 2), (2, 8, 1), (2, 2, 1), (1, 8, 0), (1, 1, 0)],
)
def test_evaluation_takes_half_of_the_places_however_many_threads_a_cell_has(cells, units, left):
    assert rooms(cells, 0, units) == (left, max(1, units // 2))


def test_it_begins_where_cells_have_made_room():
    assert rooms(4, 4, 8) == (2, 0)
    assert rooms(4, 3, 8) == (2, 2), "a place of a cell of two threads is room for two units"
    assert rooms(4, 2, 8) == (2, 4)


def test_while_another_process_evaluates_no_place_is_taken(tmp_path):
    evaluation = Evaluation(tmp_path, Measuring(), jobs=4, say=lambda text: None)
    assert evaluation.wanted == 0
    evaluation.add([Cell(tmp_path, 0, "reaching", "base")])
    assert evaluation.wanted == 2
    other = take_lock(tmp_path / ".lock")
    evaluation.step(2)
    assert evaluation.wanted == 0
    other.close()
    evaluation.asked -= 60
    assert evaluation.locked()
    assert evaluation.wanted == 2
    evaluation.close()


class Untold(Reaching):
    """Does not say who its scripted teammates are."""

    def heuristics(self):
        raise ValueError("the sky\nfell\x1b[31m")


class Unplayable(Reaching):
    """Can be trained, and then not be played."""

    def step(self, state, action):
        raise RuntimeError("the sky fell")


def population_of(folder, game):
    """A cell that is done, with a population that never learned a thing."""
    cell = Cell(folder / "cells" / type(game).__name__, 0, type(game).__name__, "base")
    save_population(cell.run.population, Population(2, 50, 5, [4]), game, {"finished": True, "steps": 1})
    return cell


@pytest.mark.parametrize(
    ("game", "why"),
    [
        (Untold(), "Untold: ValueError: the sky\\nfell\\x1b[31m"),
        (Unplayable(), "Unplayable: RuntimeError: the sky fell"),
    ],
)
def test_a_game_whose_own_code_fails_is_told_of_in_one_line_and_others_are_evaluated(tmp_path, game, why):
    said = []
    evaluation = Evaluation(tmp_path / "evaluation", FEW, jobs=1, say=said.append)
    for cell in (population_of(tmp_path, game), population_of(tmp_path, Reaching())):
        evaluation.add([cell])
    with pytest.raises(UserError) as problem:
        evaluation.finish()
    assert str(problem.value) == f"not all was evaluated: {why}"
    assert f"evaluation: {why}" in said
    assert (tmp_path / "evaluation/Reaching" / LEDGER).read_text().count("\n") == 2


def test_tables_that_can_not_be_written_stop_no_training(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    evaluation = Evaluation(tmp_path / "evaluation", FEW, jobs=1, say=lambda text: None)
    evaluation.add([population_of(tmp_path, Reaching())])
    evaluation.step(1)
    monkeypatch.setattr("brdiv.study.tidy.append", full)
    monkeypatch.setattr("brdiv.study.tidy.write_whole", full)
    evaluation.step(1)
    assert evaluation.problems == ["Reaching: OSError: [Errno 28] No space left on device"]
    assert evaluation.wanted == 0
    evaluation.close()


def test_what_was_being_measured_when_it_was_stopped_is_kept(tmp_path, monkeypatch):
    stopped, units = threading.Event(), list(units_of([population_of(tmp_path, Reaching())]))

    def slow(unit, how):
        stopped.wait(60)
        if unit is units[1]:
            raise RuntimeError("killed")
        return measure(unit, how)

    class Pool(ThreadPoolExecutor):
        def __init__(self, jobs, context, initializer, initargs):
            super().__init__(jobs)

        def shutdown(self, wait=True, *, cancel_futures=False):
            stopped.set()
            super().shutdown(wait, cancel_futures=cancel_futures)

    monkeypatch.setattr(measuring, "measure", slow)
    monkeypatch.setattr(measuring, "ProcessPoolExecutor", Pool)
    game = GameEvaluation(units, tmp_path / "evaluation", FEW, jobs=2)
    game.step(2, 0.0)
    assert len(game.running) == 2
    game.close()
    assert [unit.key for unit in GameEvaluation(units, tmp_path / "evaluation", FEW, jobs=1).todo] == [units[1].key]


def test_a_cell_counts_as_it_ended_although_its_file_is_not_here_yet(tmp_path):
    cell, other = (Cell(tmp_path, seed, "reaching", "base") for seed in (0, 1))
    other.folder.mkdir(exist_ok=True)
    other.write(State(DONE))
    added = []
    beside = Beside(SimpleNamespace(add=lambda *given: added.append(given)), LocalPool(1), lambda each: each == cell)
    beside.begin([other, cell], [cell])
    assert added == []
    beside.ended(cell, State(DONE))
    assert added == [([other, cell], {cell})]
