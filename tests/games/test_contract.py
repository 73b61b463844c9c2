"""What every exported game must hold; a new game is tested the day it is exported."""

import json

import pytest
import torch
from torchrl.envs.utils import check_env_specs

from brdiv.games import shipped_games
from brdiv.rollouts import Pairing, TwoPlayerEnv

GAMES = shipped_games().values()
ROWS = 64

pytestmark = pytest.mark.parametrize("game", [game() for game in GAMES], ids=[game.__name__ for game in GAMES])


def random_actions(game, rows, steps, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(game.n_actions, (steps, rows, 2), generator=generator)


def test_specs_describe_what_comes_out(game):
    check_env_specs(TwoPlayerEnv(game, pairing=Pairing(4, 2, 3)))
    check_env_specs(TwoPlayerEnv(game, rows=3))


def test_a_batch_steps_like_its_rows_stepped_alone(game, generator):
    together = game.initial(ROWS, generator)
    alone = [together[row : row + 1].clone() for row in range(ROWS)]
    for action in random_actions(game, ROWS, steps=30):
        together, reward, terminated = game.step(together, action)
        for row in range(ROWS):
            alone[row], own_reward, own_terminated = game.step(alone[row], action[row : row + 1])
            assert own_reward == reward[row]
            assert own_terminated == terminated[row]
            assert (alone[row] == together[row : row + 1]).all()


def test_stepping_leaves_the_old_state_alone(game, generator):
    state = game.initial(ROWS, generator)
    before = state.clone()
    game.step(state, random_actions(game, ROWS, steps=1)[0])
    assert (state == before).all()


def test_the_view_holds_the_state(game, generator):
    state = game.initial(ROWS, generator)
    for action in random_actions(game, ROWS, steps=10):
        view = game.view(state)
        assert view.shape == (ROWS, 2, game.view_size)
        assert (game.view(game.from_view(view)) == view).all()
        state, _, _ = game.step(state, action)


def test_what_is_observed_is_the_view_encoded(game, generator):
    state = game.initial(ROWS, generator)
    for action in random_actions(game, ROWS, steps=40):
        assert torch.equal(game.observe(state), game.encode(game.view(state)))
        state, _, _ = game.step(state, action)


def test_networks_see_floats_that_tell_views_apart(game, generator):
    views = game.view(game.initial(256, generator)).flatten(0, 1)
    seen = game.encode(views)
    assert seen.shape == (512, game.observation_size)
    assert seen.dtype == torch.float32
    assert len(seen.unique(dim=0)) == len(views.unique(dim=0))


def test_what_networks_see_lies_within_its_bounds_and_reaches_them(game, generator):
    state, low, high = game.initial(ROWS, generator), float("inf"), -float("inf")
    for action in random_actions(game, ROWS, steps=60):
        seen = game.observe(state)
        low, high = min(low, seen.min().item()), max(high, seen.max().item())
        state, _, _ = game.step(state, action)
    assert (low, high) == game.observation_bounds


def test_same_seed_same_episode(game):
    def play(seed):
        env = TwoPlayerEnv(game, pairing=Pairing(4, 8, 8), seed=seed)
        actions = iter(random_actions(game, 16, steps=60))

        def policy(tensordict):
            return tensordict.set(("agents", "action"), next(actions))

        return env.rollout(60, policy, break_when_any_done=False)

    first, again, other = play(5), play(5), play(6)
    assert (first == again).all()
    assert not (first["agents", "observation"] == other["agents", "observation"]).all()


def test_games_use_no_global_randomness(game, generator):
    torch.manual_seed(0)
    before = torch.get_rng_state()
    state = game.initial(ROWS, generator)
    game.step(state, random_actions(game, ROWS, steps=1)[0])
    assert torch.equal(torch.get_rng_state(), before)


def test_settings_survive_json_and_build_the_game_again(game, generator):
    again = type(game)(**json.loads(json.dumps(game.settings())))
    assert json.dumps(again.settings()) == json.dumps(game.settings())
    assert again.observation_size == game.observation_size
