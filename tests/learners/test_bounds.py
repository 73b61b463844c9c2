"""Bounds: a best response to each heuristic, trained so that it resumes, and what comes of it on disk."""

import json
from pathlib import Path

import pytest
import torch
import yaml

from brdiv.commands import main
from brdiv.commands.line.game_bounds import Budget, bound_games
from brdiv.errors import UserError
from brdiv.evaluation.bounds import FOLDER, bounds_of, is_hopeless
from brdiv.games import Reaching, shipped_games
from brdiv.learners.bounds import Bound, heuristic_names, measure_bound, write_bounds
from brdiv.runs import load_learner
from tests.learners.small import SMALL, UPDATE, learn
from tests.learners.test_killed import assert_same_learner
from tests.processes import forked, kill_when

THREADS, REST = SMALL[-2:], SMALL[:-2]


@pytest.fixture
def two_heuristics(monkeypatch):
    """As if Reaching had two heuristics."""
    monkeypatch.setattr("brdiv.learners.bounds.heuristic_names", lambda game: ["H3", "H8"])


def bound(out, *options, steps=4 * UPDATE):
    budget = ["--steps", str(steps), "--episodes", "3", *THREADS]
    main(["bounds", "Reaching", *budget, "--out", str(out), *REST, *options])
    return json.loads((out / "reaching.json").read_text())


def test_there_is_a_bound_for_every_heuristic_and_the_file_says_how_it_was_made(tmp_path, two_heuristics, capsys):
    told = bound(tmp_path / "out")
    assert list(told["bounds"]) == ["H3", "H8"]
    for name, found in told["bounds"].items():
        assert found["teammate"] == name
        assert found["steps"] == 4 * UPDATE
        assert 0 <= found["mean_return"] <= 1
        assert 1 <= found["mean_length"] <= 50
    assert told["made_with"]["command"].startswith(f"brdiv bounds Reaching --steps {4 * UPDATE} --episodes 3 --seed 0")
    assert bounds_of(Reaching(), tmp_path / "out") == {n: b["mean_return"] for n, b in told["bounds"].items()}
    assert bounds_of(Reaching(horizon=9), tmp_path / "out") == {}, "other settings, other bounds"
    out = capsys.readouterr().out
    assert f"  H3   {told['bounds']['H3']['mean_return']:.3f} +- " in out
    assert "mean over 1 teammates" not in out, "what runs say of themselves goes beside their folders"
    assert "mean over 1 teammates" in (tmp_path / "out/reaching/H3.log").read_text()


def test_killed_and_run_again_nothing_is_lost_and_nothing_differs(tmp_path, two_heuristics):
    options = ["--checkpoints.every", str(5 * UPDATE)]
    whole = bound(tmp_path / "whole", *options, steps=60 * UPDATE)
    out = tmp_path / "killed"
    second = out / "reaching/H8/checkpoints"
    process = forked(lambda: bound(out, *options, steps=60 * UPDATE))
    kill_when(process, lambda: list(second.glob("step_*.ckpt")))
    assert not (out / "reaching.json").exists(), "bounds of a game appear when all of them are there"
    first = out / "reaching/H3/learner.safetensors"
    before = first.stat().st_mtime_ns
    again = bound(out, *options, steps=60 * UPDATE)
    assert first.stat().st_mtime_ns == before
    assert again == whole
    assert_same_learner(tmp_path / "whole/reaching/H8", out / "reaching/H8")


def test_a_best_response_that_was_there_before_and_was_trained_otherwise_is_refused(tmp_path, two_heuristics, capsys):
    bound(tmp_path / "out")
    with pytest.raises(SystemExit):
        bound(tmp_path / "out", steps=40 * UPDATE)
    assert f"trained otherwise (data.steps was {4 * UPDATE} and is {40 * UPDATE})" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        bound(tmp_path / "out", "--model.learning_rate", "0.5")
    assert "and is 0.5)" in capsys.readouterr().err


def test_a_learner_trained_with_others_is_no_best_response(tmp_path):
    saved = load_learner(learn(tmp_path / "run"))
    with pytest.raises(UserError, match="a learner trained with H1, H4 is no best response to H1"):
        measure_bound(saved, "H1", episodes=2)


def test_a_best_response_learns_to_meet_its_teammate(tmp_path):
    """On a grid of nine cells a few thousand steps are enough to follow H3, and far too few by chance."""
    options = ["--data.game", "Reaching", "--data.game.size", "3", "--data.game.horizon", "10"]
    options += ["--data.game.goals", "[[0, 0], [2, 2], [0, 2], [2, 0]]", "--data.rows", "64", "--data.window", "16"]
    options += ["--data.steps", str(64 * 16 * 20), "--evaluation.final_episodes", "2", "--threads", "1"]
    run = tmp_path / "run"
    main(["learn", "--config", "learners/ppo", "--teammates", "H3", *options, "--run", str(run)])
    found = measure_bound(load_learner(run), "H3", episodes=200, seed=1)
    assert found.mean_return > 0.9
    assert 0 < found.half_width < 0.1
    assert found.discounted_return < found.mean_return


def test_games_without_heuristics_have_no_bounds(monkeypatch):
    game = Reaching()
    monkeypatch.setattr(game, "heuristics", lambda: None)
    with pytest.raises(UserError, match="no heuristic teammates"):
        heuristic_names(game)


def test_a_teammate_with_whom_nobody_can_play_is_marked(tmp_path, capsys, two_heuristics, monkeypatch):
    hopeless = Bound("H8", 0.01, 0.0, 0.01, 50.0, 4 * UPDATE)
    monkeypatch.setattr("brdiv.learners.bounds.measure_bound", lambda response, name, *rest: hopeless)
    bound(tmp_path / "out")
    assert "0.010 +- 0.000, 50.0 steps  nobody can play with it" in capsys.readouterr().out


def test_bounds_that_can_not_be_written_leave_those_of_before(tmp_path, monkeypatch):
    path = tmp_path / "reaching.json"
    path.write_text("those of before")

    def half(path, text):
        path.write_bytes(text[: len(text) // 2].encode())
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", half)
    with pytest.raises(OSError, match="No space"):
        write_bounds(path, Reaching(), [Bound("H1", 0.9, 0.01, 0.8, 5.0, 32)], {})
    assert path.read_bytes() == b"those of before"
    assert [each.name for each in tmp_path.iterdir()] == ["reaching.json"]


def test_the_command_takes_games_or_populations_and_not_both(tmp_path, capsys, monkeypatch):
    asked = []
    monkeypatch.setattr("brdiv.commands.line.game_bounds.bound_games", lambda *given: asked.append(given))
    main(["bounds", "Reaching", "LBF", "--steps", "32", "--out", str(tmp_path), "--trainer.accelerator", "cpu"])
    options = ["--trainer.accelerator", "cpu"]
    assert asked == [(["Reaching", "LBF"], Budget(32, 500, 0, 2), tmp_path, options)]
    with pytest.raises(SystemExit):
        main(["bounds", "Reaching", "runs/no-such-run"])
    assert "not both at once" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["bounds", "runs/no-such-run", "--trainer.accelerator", "cpu"])
    assert "unrecognized arguments: --trainer.accelerator cpu" in capsys.readouterr().err


def test_options_that_are_set_for_every_best_response_are_refused():
    with pytest.raises(UserError, match="--teammates is set for each best response"):
        bound_games(["Reaching"], Budget(None, 3, 0, 1), options=["--teammates", "H1"])


def test_what_is_set_for_every_best_response_wins_over_a_config(tmp_path, two_heuristics):
    mine = tmp_path / "mine.yaml"
    mine.write_text(f"{{ seed_everything: 7, data: {{ game: LBF, steps: {8 * UPDATE} }}, model: {{ gamma: 0.9 }} }}")
    out = tmp_path / "out"
    bound(out, "--config", str(mine))
    response = load_learner(out / "reaching/H3")
    assert response.game.same_as(Reaching())
    assert response.about["steps"] == 4 * UPDATE
    settings = yaml.safe_load((out / "reaching/H3/config.yaml").read_text())
    assert (settings["seed_everything"], settings["model"]["gamma"]) == (0, 0.9)


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.json")), ids=lambda file: file.stem)
def test_shipped_bounds_are_of_shipped_games(file):
    (game,) = (kind() for name, kind in shipped_games().items() if name.lower() == file.stem)
    assert set(bounds_of(game)) <= set(game.heuristics().names)
    assert bounds_of(game)


def test_nobody_earns_more_on_reaching_than_the_corner_that_a_teammate_insists_on_pays():
    bounds = bounds_of(Reaching())
    assert bounds["H3"] == pytest.approx(1.0, abs=0.01)
    assert bounds["H5"] == pytest.approx(0.75, abs=0.01)


def most_with_a_random_walker(game):
    """What can be earned with H11, exactly: its moves don't depend on anything, so looking ahead is a sum."""
    size = game.size
    places = torch.tensor([(x, y) for x in range(size) for y in range(size)])
    moves = [game.cells(game.move(places, torch.full((len(places),), action))) for action in range(5)]
    paid = torch.diag(game.prizes.flatten())
    value = torch.zeros_like(paid)  # [own cell, the other's cell]
    for _ in range(game.horizon):
        after = torch.where(paid > 0, paid, value)
        value = torch.stack([torch.stack([after[own][:, other] for other in moves]).mean(0) for own in moves]).amax(0)
    starts = [size * x + y for x in range(1, size - 1) for y in range(1, size - 1)]
    return float(value[starts][:, starts].mean())


def test_a_random_walker_allows_what_the_documentation_says_and_has_no_bound_that_was_trained():
    most = most_with_a_random_walker(Reaching())
    assert most == pytest.approx(0.815, abs=5e-4)
    assert max(bounds_of(Reaching()).values()) > most, "whoever walks somewhere can be met"
    assert "H11" not in bounds_of(Reaching()), "nobody was trained who earns what can be computed"


def test_bounds_are_written_whole_and_read_again(tmp_path):
    found = [Bound("H1", 0.9, 0.01, 0.8, 5.0, 32), Bound("H2", 0.01, 0.0, 0.01, 50.0, 32)]
    write_bounds(tmp_path / "reaching.json", Reaching(), found, {"seed": 0})
    assert bounds_of(Reaching(), tmp_path) == {"H1": 0.9, "H2": 0.01}
    assert [is_hopeless(value) for value in bounds_of(Reaching(), tmp_path).values()] == [False, True]


def test_an_unknown_game_has_no_bounds():
    with pytest.raises(UserError, match="no game 'Chess'"):
        bound_games(["Chess"], Budget(None, 3, 0, 1))
