"""What numbers are called, against what they are."""

import pytest
import torch

from brdiv.games import LBF, Cooking, Reaching, shipped_games

GAMES = [game() for game in shipped_games().values()]


def shown(game, view):
    """What networks see of one seat's view, by name."""
    return dict(zip(game.observation_names(), game.encode(torch.tensor(view)).tolist(), strict=True))


@pytest.mark.parametrize("game", GAMES, ids=lambda game: type(game).__name__)
def test_every_number_has_a_name_of_its_own(game):
    for names, size in [
        (game.action_names(), game.n_actions),
        (game.observation_names(), game.observation_size),
        (game.view_names(), game.view_size),
    ]:
        assert len(names) == len(set(names)) == size


def test_in_reaching_the_cells_that_are_set_are_those_that_are_named():
    seen = shown(Reaching(), [1, 2, 4, 3])
    assert {name for name, value in seen.items() if value} == {"own x is 1 and y is 2", "other's x is 4 and y is 3"}


def test_in_foraging_ways_and_levels_are_those_that_are_named():
    game = LBF()
    view = [1, 4, 3, 4, 1, 3, -1, -1, 0, 2, 3, 2, 5, 0, 1]
    assert dict(zip(game.view_names(), view, strict=True))["level of own player"] == 2
    seen = {name: value for name, value in shown(game, view).items() if value}
    assert seen == {
        "own row is 2": 1, "own column is 3": 1,
        "food 1 is -1 rows away": 1, "food 1 is +1 columns away": 1,
        "food 2 is +2 rows away": 1, "food 2 is -2 columns away": 1,
        "other player is +3 rows away": 1, "other player is -3 columns away": 1,
        "level of food 1 / 4": 0.75, "level of food 2 / 4": 0.75,
        "level of own player / 4": 0.5, "level of other player / 4": 0.25,
    }  # fmt: skip


def test_in_cooking_chefs_hands_and_items_are_those_that_are_named():
    game = Cooking()
    view = [3, -1, 1, -1, -1, -1, 7, -1, -1, -1, -1, 1, -1, -1, 6, -1, -1, 0, 5, 8]
    named = dict(zip(game.view_names(), view, strict=True))
    assert named["own hand holds chopped tomato"] == 1
    assert named["other's hand holds plate"] == 1
    assert (named["location of carrot"], named["location of serving counter"]) == (6, 8)
    seen = {name for name, value in shown(game, view).items() if value > 0}
    assert seen == {
        "own cell is 3", "other's cell is 7", "own hand holds chopped tomato", "other's hand holds plate",
        "carrot is on counter 6",
    }  # fmt: skip


def test_actions_do_what_they_are_called():
    game = Reaching()
    for name, expected in {"left": [1, 2], "right": [3, 2], "up": [2, 1], "down": [2, 3], "stay": [2, 2]}.items():
        action = torch.tensor([[game.action_names().index(name), 0]])
        state, _, _ = game.step(game.from_view(torch.full((1, 2, 4), 2)), action)
        assert game.view(state)[0, 0, :2].tolist() == expected
