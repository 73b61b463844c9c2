import pytest

from brdiv.commands import main
from brdiv.games import LBF
from tests.evaluation.test_evaluate import refused, save
from tests.teamwork.test_plastic import corner_seekers


@pytest.fixture
def file(tmp_path):
    return save(tmp_path / "run", corner_seekers())


def test_two_of_one_team_meet_and_two_of_different_teams_do_not(file, capsys):
    main(["play", f"{file}:1", f"{file}:1", "--episodes", "200"])
    out = capsys.readouterr().out
    assert "Reaching: teammate 1 with best response 1, 200 episodes" in out
    assert "return 1.000" in out
    main(["play", f"{file}:1", f"{file}:2", "--episodes", "50"])
    assert "return 0.0" in capsys.readouterr().out


def test_heuristics_and_plastic_play_too(file, tmp_path, capsys):
    main(["play", "H3", f"{file}:plastic", "--episodes", "20", "--out", str(tmp_path / "a.gif")])
    out = capsys.readouterr().out
    assert "H3 with PLASTIC" in out
    assert "+-" in out
    assert (tmp_path / "a.gif").read_bytes().startswith(b"GIF")
    main(["play", "H3", "H10", "--game", "Reaching", "--episodes", "1"])
    out = capsys.readouterr().out
    assert "return 1.000," in out
    assert "+-" not in out


def test_bad_input_gets_one_clear_line(file, tmp_path, capsys):
    other = save(tmp_path / "other", game=LBF())
    assert "play different games" in refused(capsys, "play", f"{file}:1", f"{other}:1")
    assert "number from 1 to 4, or plastic" in refused(capsys, "play", f"{file}:5", "H1")
    assert "no heuristic H99; Reaching has H1" in refused(capsys, "play", f"{file}:1", "H99")
    assert "needs a number" in refused(capsys, "play", str(file), f"{file}:1")
    assert "name it second" in refused(capsys, "play", f"{file}:plastic", "H1")
    assert "give --game" in refused(capsys, "play", "H1", "H2")
    assert "no game 'Chess'" in refused(capsys, "play", "H1", "H2", "--game", "Chess")
    assert "no population file" in refused(capsys, "play", f"{tmp_path}/none:1", "H1")
    assert "episodes is 0" in refused(capsys, "play", "H1", f"{file}:1", "--episodes", "0")
