import pytest
import torch
from tensordict.nn import TensorDictModule
from torchrl.collectors import Collector

from brdiv.collect import GameCollector, make_collector
from brdiv.envs import LBF, Cooking, Reaching, TwoPlayerEnv
from brdiv.nets import Population
from brdiv.pairings import Pairing

GAMES = [Reaching(horizon=11), LBF(horizon=13), Cooking(horizon=9)]
LEARNED_FROM = [
    ("agents", "observation"),
    ("agents", "action"),
    "ids",
    ("next", "agents", "observation"),
    ("next", "reward"),
    ("next", "terminated"),
    ("next", "truncated"),
    ("next", "done"),
]


def parts(game, seed=3):
    """An environment and a way to act in it, both freshly seeded."""
    torch.manual_seed(0)
    population = Population(3, game.observation_size, game.n_actions, [8], gain=2.0)
    generator = torch.Generator().manual_seed(seed)
    env = TwoPlayerEnv(game, pairing=Pairing(3, 6, 10), seed=seed)
    return env, lambda observation, ids: population.act(observation, ids, generator)


def stock(env, act, window):
    policy = TensorDictModule(act, in_keys=[("agents", "observation"), "ids"], out_keys=[("agents", "action")])
    return Collector(env, policy, frames_per_batch=env.rows * window, total_frames=-1, use_buffers=False,
                     auto_register_policy_transforms=False, track_traj_ids=False)  # fmt: skip


@pytest.mark.parametrize("game", GAMES, ids=[type(game).__name__ for game in GAMES])
def test_windows_are_those_of_torchrls_collector(game):
    ours = iter(GameCollector(*parts(game), 8))
    theirs = iter(stock(*parts(game), 8))
    ends = 0
    for _ in range(8):
        got, expected = next(ours), next(theirs)
        for key in LEARNED_FROM:
            assert torch.equal(got[key], expected[key]), key
            assert got[key].dtype == expected[key].dtype
        ends += int(got["next", "done"].sum())
    assert ends > 16


def test_play_goes_on_from_a_saved_state():
    game = Reaching(horizon=11)
    population = Population(3, game.observation_size, game.n_actions, [8])

    def collector(generator):
        env = TwoPlayerEnv(game, pairing=Pairing(3, 6, 10), seed=1)
        return GameCollector(env, lambda observation, ids: population.act(observation, ids, generator), 8)

    first_generator = torch.Generator().manual_seed(5)
    first = collector(first_generator)
    windows = iter(first)
    next(windows)
    saved, actions = first.state_dict(), first_generator.get_state()
    expected = [next(windows) for _ in range(3)]
    again_generator = torch.Generator()
    again_generator.set_state(actions)
    again = collector(again_generator)
    again.load_state_dict(saved)
    for window, got in zip(expected, again, strict=False):
        assert (window == got).all()


def test_each_environment_gets_its_collector():
    env, act = parts(GAMES[0])
    assert isinstance(make_collector(env, act, 8), GameCollector)
