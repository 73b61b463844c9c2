import importlib
from contextlib import closing

import pytest

from brdiv.errors import UserError
from brdiv.games import LBF, Reaching
from brdiv.nets import Population
from brdiv.runs import save_population
from brdiv.study import measuring
from brdiv.study.cells import Cell
from brdiv.study.measuring import Evaluation
from brdiv.study.plan import Measuring
from brdiv.study.tidy import LEDGER
from brdiv.study.units import load

HOW = Measuring(episodes=2, generated_episodes=2, cross_play_episodes=2)
TABLES = ("cross_play.csv", "episodes.csv", "strategies.csv")


def make(cell, game=None):
    """A finished population, different every time."""
    game = game or Reaching()
    save_population(cell.run.population, Population(2, game.observation_size, game.n_actions, [4]), game)
    load.cache_clear()  # a study's own process never sees a population change


@pytest.fixture
def cells(tmp_path):
    found = [Cell(tmp_path / method, seed, "reaching", method) for method in ("a", "b") for seed in (0, 1)]
    for cell in found:
        make(cell)
    return found


@pytest.fixture
def measured(monkeypatch):
    """The units that are really played."""
    played = []
    real = measuring.measure

    def watched(unit, how):
        played.append(unit.key)
        return real(unit, how)

    monkeypatch.setattr(measuring, "measure", watched)
    return played


def evaluate(cells, folder, how=HOW, jobs=1):
    with closing(Evaluation(folder, how, jobs, say=lambda text: None)) as evaluation:
        evaluation.add(cells)
        evaluation.finish()
    return {name: (folder / "reaching" / name).read_bytes() for name in TABLES}


def test_every_unit_is_measured_once(cells, tmp_path, measured):
    first = evaluate(cells, tmp_path / "out")
    assert len(measured) == len(set(measured)) == 4 * (1 + 1 + 2)
    measured.clear()
    assert evaluate(cells, tmp_path / "out") == first
    assert measured == []


@pytest.mark.parametrize("torn", ["ledger", "rows"])
def test_what_was_torn_off_is_measured_again_with_the_same_outcome(torn, cells, tmp_path, measured):
    whole = evaluate(cells, tmp_path / "whole")
    evaluate(cells, tmp_path / "torn")
    measured.clear()
    path = tmp_path / "torn/reaching" / (LEDGER if torn == "ledger" else "episodes.csv")
    path.write_bytes(path.read_bytes()[:-30])
    assert evaluate(cells, tmp_path / "torn") == whole
    assert measured == ["b/seed1 generated b"]


def test_interrupted_at_any_unit_it_comes_to_the_same(cells, tmp_path, monkeypatch):
    whole = evaluate(cells, tmp_path / "whole")
    real, calls = measuring.measure, []

    def interrupted(unit, how):
        calls.append(unit.key)
        if len(calls) % 4 == 0:
            raise KeyboardInterrupt
        return real(unit, how)

    monkeypatch.setattr(measuring, "measure", interrupted)
    for _ in range(5):
        with pytest.raises(KeyboardInterrupt):
            evaluate(cells, tmp_path / "out")
    assert evaluate(cells, tmp_path / "out") == whole
    assert len(calls) == 16 + 5, "each once, and again those that were interrupted"


def test_a_population_that_was_trained_anew_is_measured_anew_wherever_it_plays(cells, tmp_path, measured):
    evaluate(cells, tmp_path / "out")
    measured.clear()
    make(cells[3])
    evaluate(cells, tmp_path / "out")
    own = {"b/seed1 itself itself", "b/seed1 heuristics heuristics", "b/seed1 generated a", "b/seed1 generated b"}
    assert set(measured) == own | {f"{learner} generated b" for learner in ("a/seed0", "a/seed1", "b/seed0")}


def test_a_cell_that_comes_later_is_added(cells, tmp_path):
    together = evaluate(cells, tmp_path / "together")
    evaluate(cells[:2], tmp_path / "out")
    assert evaluate(cells, tmp_path / "out") == together


def test_other_episodes_are_another_measurement(cells, tmp_path, measured):
    evaluate(cells, tmp_path / "out")
    measured.clear()
    evaluate(cells, tmp_path / "out", HOW._replace(episodes=3))
    assert len(measured) == 16


OWN_GAME = "from brdiv.games import Reaching\nclass Own(Reaching): pass\n"


def test_several_processes_measure_what_one_does_and_know_the_games_that_it_knows(cells, tmp_path, monkeypatch):
    (tmp_path / "game_of_their_own.py").write_text(OWN_GAME)
    monkeypatch.syspath_prepend(tmp_path)
    for cell in cells[::2]:
        make(cell, importlib.import_module("game_of_their_own").Own())
    alone = evaluate(cells[::2], tmp_path / "alone")
    assert evaluate(cells[::2], tmp_path / "both", jobs=2) == alone


def test_a_game_that_can_not_be_evaluated_does_not_keep_others_from_it(cells, tmp_path):
    strangers = [Cell(tmp_path / "mixed", seed, "mixed", "a") for seed in (0, 1)]
    make(strangers[0])
    make(strangers[1], LBF())
    said = []
    with closing(Evaluation(tmp_path / "out", HOW, 1, said.append)) as evaluation:
        evaluation.add(strangers)
        evaluation.add(cells)
        with pytest.raises(UserError, match="not all was evaluated: mixed/a/seed1 plays LBF"):
            evaluation.finish()
    assert any("mixed/a/seed1 plays LBF" in line for line in said), "it is said at once, not hours later"
    assert {name: (tmp_path / "out/reaching" / name).read_bytes() for name in TABLES} == evaluate(cells, tmp_path / "x")
