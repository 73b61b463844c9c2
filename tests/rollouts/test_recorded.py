import pytest
import torch

from brdiv.games import LBF, Cooking, Reaching
from brdiv.rollouts import TwoPlayerEnv
from brdiv.rollouts.recorded import Recorded, is_recordable


def played(game, record, steps=120):
    env = TwoPlayerEnv(game, rows=64, seed=3)
    if record:
        env.record()
    generator = torch.Generator().manual_seed(1)
    found, paid, now = [], 0.0, env.begin()
    with torch.inference_mode():
        for _ in range(steps):
            action = torch.randint(game.n_actions, (64, 2), generator=generator)
            after, reward, terminated, done = env.advance(now, action)
            found += [*after.state.values(), after.clock, after.observation, reward, terminated, done]
            paid += float(reward.sum())
            now = env.renew(after, done)
    return env, found, paid


@pytest.mark.parametrize("game", [LBF(), LBF(size=7, foods=4, max_level=3), Cooking(), Reaching(horizon=9)])
def test_recorded_rules_play_as_the_rules_do(game):
    _, expected, paid = played(game, record=False)
    recorded, found, _ = played(game, record=True)
    assert isinstance(recorded.rules, Recorded)
    assert paid > 0
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        assert torch.equal(one, other)


def test_rules_that_look_at_what_happens_are_not_recorded():
    class Moody(Reaching):
        def step(self, state, action):
            state, reward, won = super().step(state, action)
            return state, reward * 2 if bool(reward.any()) else reward - 1, won

    assert is_recordable(Reaching())
    assert not is_recordable(Moody())
    env, *_ = played(Moody(), record=True, steps=2)
    assert not isinstance(env.rules, Recorded)
    assert env.advance(env.begin(), torch.zeros(64, 2, dtype=torch.long)).reward.max() == -1
