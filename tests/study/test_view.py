import io

import pytest
from rich.console import Console

from brdiv.study.cells import DONE, FAILED, RUNNING, WAITING, Cell, State, now
from brdiv.study.standing import look_at
from brdiv.study.view import View


@pytest.fixture
def cells(tmp_path):
    """One cell of each state: done at 100 steps a second, at half of its 1000 steps, failed and waiting."""
    found = [Cell(tmp_path, seed, "reaching", "base") for seed in range(4)]
    found[0].write(State(DONE, "", 10.0, 1, 1000))
    found[1].write(State(RUNNING, "", 0.0, 1, 0, now() - 5))
    found[1].log.write_text("--- attempt 1\ntraining: 100 of 1,000 steps\ntraining: 500 of 1,000 steps (50 %)\n")
    found[2].write(State(FAILED, "brdiv: error: [no] reason", 1.0, 1, 0))
    found[3].write(State(WAITING))
    return found


def planned(cells):
    return dict.fromkeys(cells, 1000)


def test_what_is_left_takes_as_long_as_what_was_done(cells):
    standing = look_at(cells, planned(cells))
    assert standing.states[cells[1]].steps == 500
    assert standing.speeds[cells[1]] == pytest.approx(100, rel=0.2)
    assert standing.seconds_left(jobs=1) == pytest.approx(15, rel=0.2)
    assert standing.seconds_left(jobs=2) == pytest.approx(10, rel=0.2), "no cell is trained by two"


def test_nothing_is_known_of_the_time_before_anything_has_run(tmp_path):
    cell = Cell(tmp_path, 0, "lbf", "base")
    assert look_at([cell], {cell: 1000}).seconds_left(1) is None
    assert look_at([cell], {cell: 1000}).seconds_left(1, {"lbf": 50.0}) == 20.0


def test_an_earlier_attempts_progress_is_not_this_ones(cells):
    with cells[1].log.open("a") as log:
        log.write("--- attempt 2, from step 0\n")
    assert look_at(cells, planned(cells)).states[cells[1]].steps == 0


def test_a_log_gets_a_line_for_every_cell_that_ends(cells):
    out = io.StringIO()
    with View(cells, planned(cells), 2, Console(file=out, highlight=False)) as view:
        view.look()
        for cell in (cells[0], cells[2]):
            view.ended(cell, cell.state())
    assert out.getvalue().splitlines() == [
        "reaching/base/seed0: done, 1,000 steps in 0:10",
        "reaching/base/seed2: failed after 0:01: [no] reason",
    ]


def test_a_terminal_gets_a_table(cells):
    out = io.StringIO()
    with View(cells, planned(cells), 2, Console(file=out, force_terminal=True, width=100, no_color=True)) as view:
        view.look()
    text = out.getvalue()
    assert "1 of 4 cells done, 1 running, 1 failed" in text
    assert "1:50%" in text
    assert "reaching/base/seed2 failed: [no] reason" in text


def test_learners_have_a_row_of_their_own_and_one_that_can_not_be_trained_says_why(cells):
    learner = cells[0]._replace(folder=cells[0].folder / "ppo", learner="ppo", needs=cells[2])
    everyone, out = [*cells, learner], io.StringIO()
    with View(everyone, planned(everyone), 2, Console(file=out, highlight=False)) as view:
        view.ended(learner, State(WAITING, "reaching/base/seed2, which it needs, is not done"))
    assert "reaching/base/ppo/seed0: not trained: reaching/base/seed2, which it needs" in out.getvalue()
    out = io.StringIO()
    with View(everyone, planned(everyone), 2, Console(file=out, force_terminal=True, width=100, no_color=True)):
        pass
    assert "base + ppo" in out.getvalue()


def test_a_cell_is_taken_to_be_as_fast_as_the_nearest_that_is_known(tmp_path):
    population = Cell(tmp_path, 0, "lbf", "base")
    learner = population._replace(folder=tmp_path / "ppo", learner="ppo", needs=population)
    others = [each._replace(seed=1) for each in (population, learner)]
    population.write(State(DONE, "", 10.0, 1, 1000))  # 100 steps a second
    (tmp_path / "ppo").mkdir()
    learner.write(State(DONE, "", 100.0, 1, 1000))  # 10 steps a second
    cells = [population, learner, *others]
    assert look_at(cells, planned(cells)).seconds_left(1) == pytest.approx(10 + 100)
    of_another_method = [each._replace(method="lipo", folder=tmp_path / each.learner / "lipo") for each in others]
    cells = [population, learner, *of_another_method]
    assert look_at(cells, planned(cells)).seconds_left(1) == pytest.approx(10 + 100)
