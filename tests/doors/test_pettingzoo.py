import numpy as np
import pytest
import torch

import brdiv
from brdiv.errors import UserError
from brdiv.games import Game, shipped_games
from brdiv.rollouts import Pairing
from tests.small_runs import train

pytest.importorskip("pettingzoo", reason="pettingzoo is not installed")
from pettingzoo.test import parallel_api_test, parallel_seed_test

from brdiv.pettingzoo import parallel_env

GAMES = list(shipped_games())


@pytest.mark.parametrize("name", GAMES)
def test_pettingzoos_own_tests_pass(name, capsys):
    parallel_api_test(parallel_env(name), num_cycles=300)
    assert "Passed" in capsys.readouterr().out
    parallel_seed_test(lambda: parallel_env(name), num_cycles=60)


@pytest.mark.parametrize("name", GAMES)
def test_it_plays_by_the_rules_of_the_game(name, generator):
    game = shipped_games()[name]()
    env = parallel_env(name)
    state = game.initial(1, generator)
    seen, infos = env.reset(options={"view": game.view(state)[0].numpy()})
    for step in range(game.horizon):
        own = game.observe(state)[0].numpy()
        assert np.array_equal(seen["teammate"], own[0])
        assert np.array_equal(seen["learner"], own[1])
        assert np.array_equal(infos["learner"]["view"], game.view(state)[0, 1].numpy())
        action = torch.randint(game.n_actions, (1, 2), generator=generator)
        state, reward, won = game.step(state, action)
        seen, rewards, terminated, truncated, infos = env.step(dict(zip(env.agents, action[0].tolist(), strict=True)))
        assert rewards == dict.fromkeys(["teammate", "learner"], float(reward))
        assert set(terminated.values()) == {bool(won)}
        assert set(truncated.values()) == {step == game.horizon - 1 and not won}
        if won:
            break
    assert env.agents == []


@pytest.mark.parametrize("name", ["Reaching", "LBF"])
def test_our_adapter_trains_on_it_to_the_very_weights_of_the_native_game(name, tmp_path, monkeypatch):
    """With the same starts and pairs, which natively and by copies come from different random streams."""
    game = shipped_games()[name]
    start = game().initial(1, torch.Generator().manual_seed(3))
    monkeypatch.setattr(game, "initial", lambda self, rows, generator: start.expand(rows).clone())
    ids = torch.stack([torch.arange(16) % 3, (torch.arange(16) + torch.arange(16) // 8) % 3], -1)
    monkeypatch.setattr(Pairing, "draw", lambda self, generator, times=1: ids.expand(times, 16, 2))
    quick = ["--plastic.every", "0", "--cross_play.episodes", "1", "--cross_play.final_episodes", "1"]
    options = ["--model.n_types", "3", *quick]
    native = train(tmp_path / "native", "--data.game", name, "--data.game.horizon", "20", *options, steps=128 * 3)
    external = ["PettingZoo", "--data.game.module", "brdiv.pettingzoo", "--data.game.team_reward", "mean"]
    external += ["--data.game.arguments", f'{{"game": "{name}", "horizon": 20}}']
    copies = train(tmp_path / "copies", "--data.game", *external, *options, steps=128 * 3)
    ours, theirs = (brdiv.load_population(run, allow_imports=True) for run in (native, copies))
    assert isinstance(ours.game, Game)
    assert not isinstance(theirs.game, Game)
    assert ours.about["steps"] == theirs.about["steps"] == 128 * 3
    assert ours.about["sha256"] == theirs.about["sha256"]


def test_it_renders(capsys):
    env = parallel_env("Reaching", render_mode="rgb_array", seed=0)
    env.reset()
    assert env.render().dtype == np.uint8
    parallel_env("Reaching", render_mode="human", seed=0).reset()
    assert "episode 1, step 0, return 0.00" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: parallel_env("Chess"), "no game 'Chess'; there are Reaching, LBF, Cooking"),
        (lambda: parallel_env("LBF", sise=3), "sise"),
        (lambda: parallel_env("LBF", render_mode="film"), "render_mode is 'film'"),
    ],
)
def test_a_mistake_is_one_clear_line(call, complaint):
    with pytest.raises(UserError, match=complaint):
        call()


def test_an_action_that_there_is_not_is_refused():
    env = parallel_env("LBF", seed=0)
    env.reset()
    with pytest.raises(UserError, match="learner's action 6 is not in"):
        env.step({"teammate": 0, "learner": 6})
