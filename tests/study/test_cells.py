import os

import pytest

from brdiv.games import Reaching
from brdiv.nets import Population
from brdiv.runs import save_population
from brdiv.study.attempt import Attempt, take_lock, why_it_failed
from brdiv.study.cells import DONE, FAILED, RUNNING, WAITING, Cell, State
from brdiv.study.local import missing


@pytest.fixture
def cell(tmp_path):
    (tmp_path / "seed3").mkdir()
    return Cell(tmp_path, 3, "reaching", "base")


def save(cell, steps, finished=True, checkpoint=True):
    """What a run writes at its end."""
    game = Reaching()
    population = Population(2, game.observation_size, game.n_actions, [4])
    save_population(cell.run.population, population, game, {"steps": steps, "finished": finished})
    if checkpoint:
        cell.run.checkpoints.mkdir(exist_ok=True)
        cell.run.checkpoint(steps).write_bytes(b"")


def test_a_cell_that_nobody_has_touched_waits(cell):
    assert cell.state() == State(WAITING)


def test_what_was_written_is_read(cell):
    state = State(FAILED, "no reason", 1.5, 2, 300, 4.0)
    cell.write(state)
    assert cell.state() == state
    assert [path.name for path in cell.folder.iterdir() if path.name != "seed3"] == ["seed3.json"]


def test_a_damaged_file_says_nothing(cell):
    cell.state_file.write_text('{"state": "do')
    assert cell.state() == State(WAITING)


def test_a_run_that_was_over_when_the_study_was_killed_is_done(cell):
    cell.write(State(RUNNING, seconds=2.0, attempts=1, started=1000.0))
    save(cell, 512)
    os.utime(cell.run.checkpoint(512), (1010.0, 1010.0))
    assert cell.settle() == cell.state() == State(DONE, "", 12.0, 1, 512, 1000.0)


@pytest.mark.parametrize(("finished", "checkpoint"), [(True, False), (False, True)])
def test_a_run_without_its_last_checkpoint_is_not_done(cell, finished, checkpoint):
    cell.write(State(RUNNING, attempts=1, started=1000.0))
    save(cell, 512, finished, checkpoint)
    assert cell.settle().state == WAITING
    assert cell.state().steps == (512 if checkpoint else 0)


def test_a_cell_whose_population_was_removed_is_missing_again(cell):
    cell.write(State(DONE, steps=512))
    save(cell, 512)
    assert missing([cell]) == []
    cell.run.population.unlink()
    assert missing([cell]) == [cell]
    assert cell.settle().state == WAITING


def test_failed_cells_are_missing_only_if_they_are_to_be_tried_again(cell):
    cell.write(State(FAILED, "no reason"))
    assert missing([cell]) == []
    assert missing([cell], retry=True) == [cell]


def test_a_cell_is_not_started_beside_another_process_of_it(cell):
    lock = take_lock(cell.lock)
    assert Attempt.begin(cell) is None
    assert not cell.log.exists()
    lock.close()
    again = take_lock(cell.lock)
    assert again is not None
    again.close()


@pytest.mark.parametrize(
    ("log", "code", "why"),
    [
        ("--- attempt 1\nbrdiv: error: steps is 3\n", 2, "brdiv: error: steps is 3"),
        ("--- attempt 1\nbrdiv: error: old\n--- attempt 2\nTraceback\n  x\nValueError: new\n", 1, "ValueError: new"),
        ("--- attempt 1\nhalf a line", -9, "killed by SIGKILL (out of memory?)"),
        ("--- attempt 1\n", 3, "exit code 3"),
    ],
)
def test_why_a_run_failed_is_found_in_the_log_of_its_last_attempt(tmp_path, log, code, why):
    (tmp_path / "log").write_text(log)
    assert why_it_failed(tmp_path / "log", code) == why
