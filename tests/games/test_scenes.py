import pytest
import torch

from brdiv.games import LBF, Cooking, Reaching, shipped_games


def keys_of(scene):
    return [shape["key"] for shape in scene if shape.get("key")]


@pytest.mark.parametrize("name", shipped_games())
def test_every_action_is_explained_and_has_keys_of_its_own(name):
    game = shipped_games()[name]()
    guide = game.guide()
    assert len(guide.actions) == game.n_actions
    assert len(guide.rules) == 3
    keys = [key for action in guide.actions for key in action.keys]
    assert len(keys) == len(set(keys))
    assert all(action.keys for action in guide.actions)


@pytest.mark.parametrize("name", shipped_games())
def test_a_scene_shows_both_players_and_nothing_twice(name, generator):
    game = shipped_games()[name]()
    views = game.view(game.initial(32, generator))[:, 0].tolist()
    left, top, width, height = game.guide().box
    for view in views:
        scene = game.scene(view)
        keys = keys_of(scene)
        assert {"seat0", "seat1"} <= set(keys)
        assert len(keys) == len(set(keys))
        assert all(left < shape["x"] < left + width and top < shape["y"] < top + height for shape in scene)


def test_a_player_is_drawn_where_it_stands():
    scene = {shape["key"]: shape for shape in LBF().scene([1, 1, 3, 1, 4, 3, 4, 2, 3, 0, 2, 1, 5, 3, 2])}
    assert (scene["seat0"]["x"], scene["seat0"]["y"]) == (2, 0)
    assert (scene["seat1"]["x"], scene["seat1"]["y"]) == (3, 5)
    assert (scene["food1,4"]["x"], scene["food1,4"]["y"]) == (4, 1)


def step(game, view, action):
    """Play one step from seat 0's view, and return the news."""
    state = game.from_view(torch.tensor([view]))
    after, reward, _ = game.step(state, torch.tensor([action]))
    return game.news(view[0], game.view(after)[0, 0].tolist(), action, float(reward))


def test_reaching_says_why_it_pays_or_not():
    game = Reaching()
    assert step(game, [[0, 3, 1, 4], [1, 4, 0, 3]], [4, 1]) == "Both stand on a goal that pays 0.75: won."
    assert "not on a goal" in step(game, [[1, 1, 2, 1], [2, 1, 1, 1]], [0, 1])
    assert step(game, [[0, 1, 2, 2], [2, 2, 0, 1]], [3, 0]) == "Circle stands on a goal, alone."


def test_lbf_says_why_it_pays_or_not():
    foods = [1, 1, 2, 1, 4, 2, 4, 2, 2]
    view = [[*foods, 0, 1, 1, 1, 0, 1], [*foods, 1, 0, 1, 0, 1, 1]]
    assert step(LBF(), view, [5, 5]) == "A food was lifted together: 2 left."
    assert step(LBF(), view, [5, 0]) == "Circle lifted alone: every food takes both players."
    apart = [[*foods, 0, 1, 1, 5, 5, 1], [*foods, 5, 5, 1, 0, 1, 1]]
    assert step(LBF(), apart, [0, 5]) == "Square lifted, but stood beside no food."


def test_cooking_says_for_what_was_paid():
    game = Cooking()
    state = game.initial(1, torch.Generator().manual_seed(0))
    state["cells"], state["items"] = torch.tensor([[5, 0]]), torch.tensor([[5, -1, 6, -1, 10]])
    view = game.view(state)[0].tolist()
    assert step(game, view, [7, 0]) == "The tomato is chopped."
    assert step(game, view, [0, 0]) == "Nothing new was made."
    state["items"] = torch.tensor([[-1, 11, -1, 8, 8]])
    state["cells"] = torch.tensor([[8, 0]])
    view = game.view(state)[0].tolist()
    assert step(game, view, [3, 0]) == "The dish is together, it is served: won."
