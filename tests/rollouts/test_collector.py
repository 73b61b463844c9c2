import pytest
import torch
from tensordict.nn import TensorDictModule
from torchrl.collectors import Collector

from brdiv.games import LBF, Cooking, Reaching
from brdiv.nets import Population
from brdiv.rollouts import Pairing, RolloutCollector, TwoPlayerEnv
from brdiv.rollouts.collector import derive_seeds

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


def parts(game, seed=3, mixed=0):
    """An environment and who acts in it, freshly seeded."""
    torch.manual_seed(0)
    population = Population(3, game.observation_size, game.n_actions, [8], gain=2.0)
    return TwoPlayerEnv(game, pairing=Pairing(3, 6, 10, mixed, takeover=0.5), seed=seed), population


def stock(env, population, window, seed):
    generator = torch.Generator().manual_seed(derive_seeds(seed)[1])

    def act(observation, ids):
        return population.act(observation, ids, generator)

    policy = TensorDictModule(act, in_keys=[("agents", "observation"), "ids"], out_keys=[("agents", "action")])
    return Collector(env, policy, frames_per_batch=env.rows * window, total_frames=-1, use_buffers=False,
                     auto_register_policy_transforms=False, track_traj_ids=False)  # fmt: skip


@pytest.mark.parametrize("game", GAMES, ids=[type(game).__name__ for game in GAMES])
def test_windows_are_those_of_torchrls_collector(game):
    ours = iter(RolloutCollector(*parts(game), 8, [3]))
    theirs = iter(stock(*parts(game), 8, [3]))
    ends = 0
    for _ in range(8):
        got, expected = next(ours), next(theirs)
        for key in LEARNED_FROM:
            assert torch.equal(got[key], expected[key]), key
            assert got[key].dtype == expected[key].dtype
        ends += int(got["next", "done"].sum())
    assert ends > 16


def test_who_plays_changes_between_windows_in_rows_of_mixed_play_alone():
    windows = iter(RolloutCollector(*parts(LBF(horizon=50), mixed=12), 8, [3]))
    before, taken_over = next(windows), 0
    for _ in range(5):
        after = next(windows)
        assert torch.equal(after["mixed"], (torch.arange(28) >= 16)[:, None].expand(28, 8))
        under_way = ~before["next", "done"][:, -1, 0]
        changed = (before["ids"][:, -1] != after["ids"][:, 0]).any(1) & under_way
        assert not changed[:16].any()
        assert (after["ids"][changed, 0, 0] == after["ids"][changed, 0, 1]).all()
        seen_last = before["next", "agents", "observation"][under_way, -1]
        assert torch.equal(seen_last, after["agents", "observation"][under_way, 0])
        taken_over += int(changed.sum())
        before = after
    assert taken_over > 5


@pytest.mark.parametrize("mixed", [0, 12])
def test_play_resumes_from_a_saved_state(mixed):
    first = RolloutCollector(*parts(Reaching(horizon=11), mixed=mixed), 8, [5])
    windows = iter(first)
    next(windows)
    saved = first.state_dict()
    expected = [next(windows) for _ in range(3)]
    again = RolloutCollector(*parts(Reaching(horizon=11), seed=99, mixed=mixed), 8, [6])
    again.load_state_dict(saved)
    for window, got in zip(expected, again, strict=False):
        assert (window == got).all()


def test_an_environment_is_closed_with_its_collector():
    collector = RolloutCollector(*parts(GAMES[0]), 8)
    next(iter(collector))
    collector.shutdown()
    assert collector.env.is_closed
    collector.shutdown()
