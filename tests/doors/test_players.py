import gymnasium
import numpy as np
import pytest
import torch

import brdiv
from brdiv.errors import UserError
from brdiv.games import Reaching
from brdiv.teamwork import both_seats, cross_play
from tests.doors.populations import small_file


@pytest.fixture
def saved(tmp_path):
    return brdiv.load_population(small_file(tmp_path))


@pytest.fixture
def seen(generator):
    game = Reaching()
    return game.observe(game.initial(6, generator))


def test_it_is_still_the_tuple_that_it_was(saved):
    population, game, about = saved
    assert population.n_types == about["n_types"] == 3
    assert isinstance(game, Reaching)


@pytest.mark.parametrize(("role", "seat"), [("teammate", 0), ("best_response", 1)])
def test_policies_counted_from_one_are_those_of_the_population(saved, seen, role, seat):
    for number in (1, 2, 3):
        player = getattr(saved, role)(number)
        ours = saved.population(seen, torch.full((6, 2), number - 1))[:, seat]
        assert torch.allclose(player.logits(seen[:, seat]), ours)
        assert torch.equal(player.act(seen[:, seat], deterministic=True), ours.argmax(-1))
        assert torch.allclose(player.probabilities(seen[:, seat]), ours.softmax(-1))


def test_what_comes_out_is_of_the_kind_that_went_in(saved, seen):
    player = saved.teammate(1)
    assert isinstance(player.act(seen[:, 0]), torch.Tensor)
    assert isinstance(player.act(seen[:, 0].numpy()), np.ndarray)
    assert isinstance(player.act(seen[0, 0].numpy()), int)
    assert player.probabilities(seen[0, 0].tolist()).shape == (5,)


def test_a_seed_repeats_what_is_drawn(saved, seen):
    many = seen[:1, 0].expand(200, -1)
    first, again, other = (saved.teammate(2, seed=seed).act(many) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize("number", [0, 4])
def test_a_number_that_there_is_not_is_refused(saved, number):
    with pytest.raises(UserError, match="policies count from 1 to 3"):
        saved.teammate(number)


def test_an_observation_of_another_game_is_refused(saved):
    with pytest.raises(UserError, match=r"observation has shape \[7\]: it must be \[50\]"):
        saved.teammate(1).act(np.zeros(7))


def test_cross_play_is_what_the_loop_measures(saved):
    matrix = saved.cross_play(episodes=8, seed=3)
    generator = torch.Generator().manual_seed(3)
    assert torch.equal(matrix, cross_play(saved.game, *both_seats(saved.population), 8, generator).returns.mean(-1))


def test_plastic_recognises_a_teammate_through_gymnasium(saved):
    """By what `info` says that the teammate saw and did."""
    env, learner, right = gymnasium.make("brdiv/Reaching-v0", teammates=saved, seed=0), saved.plastic(), []
    for _ in range(20):
        observation, info = env.reset()
        learner.begin()
        over = False
        while not over:
            observation, _, terminated, truncated, info = env.step(learner.act(observation))
            learner.watch(info["teammate_observation"], info["teammate_action"])
            over = terminated or truncated
        right.append(f"teammate {learner.belief[0].argmax() + 1}" == info["teammate"])
    assert sum(right) >= 15


def test_watching_before_acting_is_refused(saved):
    with pytest.raises(UserError, match="watch comes after act"):
        saved.plastic().watch(np.zeros(50), 0)
