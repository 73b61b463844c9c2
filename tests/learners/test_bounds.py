"""Bounds: a best response to each heuristic, and what comes of it on disk."""

import math

import pytest
import torch

from brdiv.commands import main
from brdiv.commands.line.game_bounds import bound_games
from brdiv.errors import UserError
from brdiv.evaluation.bounds import bounds_of
from brdiv.games import Reaching
from brdiv.learners.bounds import Bound, heuristic_bounds, train_response, write_bounds
from brdiv.learners.measuring import returns_with_each


def test_there_is_a_bound_for_every_heuristic(tmp_path):
    game = Reaching(horizon=4)
    bounds = list(heuristic_bounds(game, steps=32, episodes=3, rows=4, window=4))
    assert [bound.teammate for bound in bounds] == list(game.heuristics().names)
    assert all(0 <= bound.mean_return <= 1 and 1 <= bound.mean_length <= 4 for bound in bounds)
    write_bounds(tmp_path / "reaching.json", game, bounds, steps=32, episodes=3, seed=0)
    assert bounds_of(game, tmp_path) == {bound.teammate: bound.mean_return for bound in bounds}
    assert bounds_of(Reaching(), tmp_path) == {}, "other settings, other bounds"


def test_the_interval_is_that_of_the_mean(monkeypatch):
    bound = next(heuristic_bounds(Reaching(horizon=4), steps=32, episodes=1, rows=4, window=4))
    assert bound.half_width == 0.0
    assert isinstance(bound, Bound)
    assert math.isfinite(bound.discounted_return)


def test_a_best_response_learns_to_meet_its_teammate():
    """On a grid of nine cells a few thousand steps are enough to follow H3, and far too few by chance."""
    game = Reaching(size=3, goals=[(0, 0), (2, 2), (0, 2), (2, 0)], horizon=10)
    module, data = train_response(game, "H3", steps=64 * 16 * 20, seed=0, rows=64, window=16)
    (mean,) = returns_with_each(module.net, data.found, 200, torch.Generator().manual_seed(1)).values()
    assert mean > 0.9


def test_games_without_heuristics_have_no_bounds(monkeypatch):
    game = Reaching()
    monkeypatch.setattr(game, "heuristics", lambda: None)
    with pytest.raises(UserError, match="no heuristic teammates"):
        next(heuristic_bounds(game))


def test_bounds_of_a_game_are_printed_and_written(tmp_path, capsys, monkeypatch):
    def found(game, steps, episodes, seed):
        yield Bound("H1", 0.9, 0.01, 0.8, 5.0, steps)
        yield Bound("H2", 0.01, 0.0, 0.01, 50.0, steps)

    monkeypatch.setattr("brdiv.learners.bounds.heuristic_bounds", found)
    bound_games(["Reaching"], None, 3, 0, 1, tmp_path)
    out = capsys.readouterr().out
    assert "H1   0.900 +- 0.010, 5.0 steps\n" in out
    assert "50.0 steps  nobody can play with it" in out
    assert bounds_of(Reaching(), tmp_path) == {"H1": 0.9, "H2": 0.01}


def test_the_command_takes_games_or_populations_and_not_both(tmp_path, capsys, monkeypatch):
    asked = []
    monkeypatch.setattr("brdiv.commands.line.game_bounds.bound_games", lambda *given: asked.append(given))
    main(["bounds", "Reaching", "LBF", "--steps", "32", "--out", str(tmp_path)])
    assert asked == [(["Reaching", "LBF"], 32, 500, 0, 2, tmp_path)]
    with pytest.raises(SystemExit):
        main(["bounds", "Reaching", "runs/no-such-run"])
    assert "not both at once" in capsys.readouterr().err


def test_the_shipped_bounds_are_of_the_shipped_game():
    """Nobody earns more than the corner that a teammate insists on pays."""
    bounds = bounds_of(Reaching())
    assert set(bounds) <= set(Reaching().heuristics().names)
    assert bounds["H3"] == pytest.approx(1.0, abs=0.01)
    assert bounds["H5"] == pytest.approx(0.75, abs=0.01)


def test_an_unknown_game_has_no_bounds(tmp_path):
    with pytest.raises(UserError, match="no game 'Chess'"):
        bound_games(["Chess"], None, 3, 0, 1, tmp_path)
