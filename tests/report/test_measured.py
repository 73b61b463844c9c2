import pytest
import torch

from brdiv.report.measured import read_matrices, read_own_matrix, read_scores, read_strategies
from brdiv.runs import RunFolder
from tests.report.studies import write_csv

EPISODES = "method,seed,learner,scenario,teammate_method,teammate_seed,teammate,episode,return,length"
PAIRS = "method,seed,teammate,response,episodes,mean_return,mean_length"


def test_a_task_counts_each_stranger_once_however_often_it_was_met(tmp_path):
    """One stranger of three episodes and one of one weigh the same; the learner's own teammates don't count."""
    rows = [("base", 0, "PLASTIC", "generated", "lipo", 0, 1, e, 1.0, 9) for e in range(3)]
    rows += [("base", 0, "PLASTIC", "generated", "lipo", 1, 1, 0, 0.0, 9)]
    rows += [("base", 0, "PLASTIC", "generated", "base", 0, 1, 0, 0.9, 9)]
    rows += [("base", 0, "PLASTIC", "generated", "base", 1, 1, 0, 0.2, 9)]
    write_csv(tmp_path / "episodes.csv", EPISODES, rows)
    scores = {score.task: score.mean_return for score in read_scores(tmp_path / "episodes.csv")}
    assert scores == {"lipo": pytest.approx(0.5), "base": pytest.approx(0.2)}


def test_every_heuristic_is_a_task(tmp_path):
    rows = [("base", 0, "PLASTIC", "heuristics", "heuristics", "", f"H{n}", 0, n / 10, 9) for n in (1, 2)]
    write_csv(tmp_path / "episodes.csv", EPISODES, rows)
    assert {score.task: score.mean_return for score in read_scores(tmp_path / "episodes.csv")} == {"H1": 0.1, "H2": 0.2}


def test_lines_that_were_cut_off_are_left_out(tmp_path):
    write_csv(tmp_path / "a.csv", EPISODES, [("base", 0, "PLASTIC", "heuristics", "heuristics", "", "H1", 0, 0.5, 9)])
    with (tmp_path / "a.csv").open("a") as file:
        file.write("base,0,PLASTIC,heuristics,heuristics,,H1,1,0.")
        file.write("\nbase,0,PLAST")
    (score,) = read_scores(tmp_path / "a.csv")
    assert score.mean_return == pytest.approx(0.25)  # "0." is a number; what has none is no episode
    write_csv(tmp_path / "b.csv", "method,seed,team,strategy,share", [("base", 0, 1, "left", 0.9), ("base", 0, 2)])
    assert [way.strategy for way in read_strategies(tmp_path / "b.csv")["base", 0]] == ["left"]


def test_matrices_have_teammates_down_and_best_responses_across(tmp_path):
    rows = [("base", 0, i, j, 64, 10 * i + j, 5.0) for i in (1, 2) for j in (1, 2)]
    write_csv(tmp_path / "cross_play.csv", PAIRS, [*rows, ("base", 1, 1, 1, 64, 0.5, 5.0), ("base", 1, 1, 2, 64, 0, 5)])
    found = read_matrices(tmp_path / "cross_play.csv")
    torch.testing.assert_close(found["base", 0].returns, torch.tensor([[11.0, 12.0], [21.0, 22.0]]))
    assert ("base", 1) not in found  # half of it is missing


def test_a_runs_own_matrix_is_the_last_that_it_measured(tmp_path):
    rows = [(step, i, j, step + i * j, 9, 4) for step in (100, 200) for i in (1, 2) for j in (1, 2)]
    write_csv(tmp_path / "cross_play.csv", "step,teammate,best_response,mean_return,mean_length,episodes", rows)
    matrix = read_own_matrix(RunFolder(tmp_path))
    torch.testing.assert_close(matrix.returns, torch.tensor([[201.0, 202.0], [202.0, 204.0]]))
    assert read_own_matrix(RunFolder(tmp_path / "nowhere")) is None
