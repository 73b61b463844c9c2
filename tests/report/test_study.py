import pytest

from brdiv.errors import UserError
from brdiv.report.study import read_study
from tests.report.studies import record, untrained_cell, write_rest


def states(study):
    return {(cell.method, cell.seed): (cell.state, cell.why) for cell in read_study(study).cells}


def test_what_failed_waits_or_was_never_begun_is_told_apart(tmp_path):
    untrained_cell(tmp_path, "reaching", "base", 0)
    record(tmp_path, "reaching", "base", 1, "failed", "loss is not finite")
    record(tmp_path, "reaching", "base", 2, "waiting")
    write_rest(tmp_path, games=["reaching"], methods=["base"], seeds="0-3")
    assert states(tmp_path) == {
        ("base", 0): ("done", ""),
        ("base", 1): ("failed", "loss is not finite"),
        ("base", 2): ("waiting", ""),
        ("base", 3): ("missing", ""),
    }


def test_what_the_study_came_to_says_which_cells_there_should_be_and_what_methods_are_called(tmp_path):
    """Not every method is asked for on every game, nor with every seed."""
    untrained_cell(tmp_path, "reaching", "base", 0)
    groups = [
        {"game": "reaching", "method": "base", "label": "BRDiv", "seeds": [0, 1]},
        {"game": "lbf", "method": "anyplay", "label": "AnyPlay", "seeds": [0]},
    ]
    write_rest(tmp_path, games=["reaching", "lbf"], methods=["base"], seeds="0-4", resolved={"groups": groups})
    assert states(tmp_path) == {
        ("base", 0): ("done", ""),
        ("base", 1): ("missing", ""),
        ("anyplay", 0): ("missing", ""),
    }
    assert read_study(tmp_path).games == ["reaching", "lbf"]
    assert read_study(tmp_path).labels("lbf") == {"anyplay": "AnyPlay"}


def test_a_run_that_is_done_but_whose_population_is_damaged_has_failed(tmp_path):
    untrained_cell(tmp_path, "reaching", "base", 0).write_bytes(b"nothing")
    ((state, why),) = states(tmp_path).values()
    assert state == "failed"
    assert "damaged" in why


def test_damaged_records_and_study_files_cost_nobody_the_report(tmp_path):
    untrained_cell(tmp_path, "reaching", "base", 0)
    (tmp_path / "cells/reaching/base/seed0.json").write_text('{"state": "do')
    (tmp_path / "study.yaml").write_text("games: [")
    (tmp_path / "versions.json").write_text("")
    assert states(tmp_path) == {("base", 0): ("done", "")}


def test_methods_stand_in_the_order_of_the_study_and_are_called_as_their_papers_do(tmp_path):
    for method in ("trajedi0", "base", "independent"):
        untrained_cell(tmp_path, "reaching", method, 0)
    write_rest(tmp_path, games=["reaching"], methods=["independent", "base", "trajedi0"], seeds=[0])
    labels = {"independent": "Independent", "base": "BRDiv", "trajedi0": "TrajeDi0"}
    assert list(read_study(tmp_path).labels("reaching").items()) == list(labels.items())


def test_two_configs_of_one_method_are_told_apart(tmp_path):
    untrained_cell(tmp_path, "reaching", "base", 0)
    untrained_cell(tmp_path, "reaching", "gentle", 0, label="BRDiv")
    assert read_study(tmp_path).labels("reaching") == {"base": "BRDiv (base)", "gentle": "BRDiv (gentle)"}


@pytest.mark.parametrize("inside", [[], ["cells"]])
def test_a_folder_that_is_no_study_is_refused(tmp_path, inside):
    for name in inside:
        (tmp_path / name).mkdir()
    with pytest.raises(UserError, match=r"not the folder of a study|holds no runs"):
        read_study(tmp_path)
    with pytest.raises(UserError, match="no study folder"):
        read_study(tmp_path / "nowhere")
