"""How evaluation shares the machine with the training of other games."""

from types import SimpleNamespace

import pytest

from brdiv.study.attempt import take_lock
from brdiv.study.cells import Cell
from brdiv.study.local import LocalPool
from brdiv.study.measuring import Evaluation
from brdiv.study.plan import Measuring
from brdiv.study.run import Beside


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
