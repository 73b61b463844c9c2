import pytest

from brdiv.runs import RunFolder
from brdiv.runs.phases import read_phases
from tests.small_runs import train


def test_a_run_says_what_teams_earned_and_how_hard_they_were_pushed(tmp_path):
    run = train(tmp_path / "run", "--cross_play.every", "512", "--model.objective.pressure", "0.9",
                "--model.objective.rise", "1.0", "--model.objective.early_pressure", "0.1")  # fmt: skip
    phases = read_phases(RunFolder(run))
    assert phases.steps[-1] == 128 * 12
    assert len(phases.steps) == len(phases.diagonal) == len(phases.off_diagonal) >= 3
    assert list(phases.weight_steps) == [128 * update for update in range(1, 13)]
    # With 8 + 8 rows the balance is at 3 x 7 / 2 = 10.5 in units of Eq. 6, of which a tenth is there at once.
    assert phases.weights[0] == pytest.approx(1.05)
    assert all(weight >= 1.05 - 1e-6 for weight in phases.weights)


def test_a_constant_weight_is_not_logged_and_a_run_without_matrices_has_no_phases(tmp_path):
    phases = read_phases(RunFolder(train(tmp_path / "run", "--model.objective.pressure", "null")))
    assert list(phases.weights) == []
    assert read_phases(RunFolder(tmp_path)) is None


def test_phases_are_means_of_the_diagonal_and_of_the_rest(tmp_path):
    lines = ["step,teammate,best_response,mean_return,mean_length,episodes"]
    lines += [f"100,{i},{j},{1.0 if i == j else 0.25},5,4" for i in (1, 2) for j in (1, 2)]
    (tmp_path / "cross_play.csv").write_text("\n".join(lines) + "\n")
    phases = read_phases(RunFolder(tmp_path))
    assert (phases.steps, phases.diagonal, phases.off_diagonal) == ([100], [1.0], [0.25])
