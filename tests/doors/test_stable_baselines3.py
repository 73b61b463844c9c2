import numpy as np
import pytest
import torch

from brdiv.games import Reaching
from brdiv.teamwork import play_pairs
from tests.doors.populations import small_file

pytest.importorskip("stable_baselines3", reason="stable_baselines3 is not installed")
from stable_baselines3 import PPO

from brdiv.stable_baselines3 import TrainedLearner, vec_env


def test_what_learners_are_told_of_episodes_is_what_happened(tmp_path):
    env = vec_env("brdiv/Reaching-v0", 16, teammates=[small_file(tmp_path), "heuristics"], seed=0, horizon=50)
    observation = env.reset()
    assert observation.shape == (16, 50)
    generator, returns, lengths, ended = np.random.default_rng(0), np.zeros(16), np.zeros(16, int), 0
    for _ in range(120):
        observation, reward, done, infos = env.step(generator.integers(5, size=16))
        returns, lengths = returns + reward, lengths + 1
        for row, info in enumerate(infos):
            assert bool(info) == done[row]
            if info:
                assert (info["episode"]["r"], info["episode"]["l"]) == (returns[row], lengths[row])
                assert info["TimeLimit.truncated"] == (returns[row] == 0)
                assert not np.array_equal(info["terminal_observation"], observation[row])
                returns[row], lengths[row], ended = 0, 0, ended + 1
    assert ended > 30


def test_its_seed_repeats_episodes():
    def play(seed):
        env = vec_env("brdiv/LBF-v0", 4, teammates="heuristics")
        env.seed(seed)
        return [env.reset(), *(env.step(np.full(4, action))[0] for action in (1, 2, 3))]

    assert all(np.array_equal(a, b) for a, b in zip(play(3), play(3), strict=True))
    assert not np.array_equal(play(3)[0], play(4)[0])


def test_what_it_learned_sits_in_the_learners_seat():
    """It is made to go to one corner: only who follows it there is paid."""
    env = vec_env("brdiv/Reaching-v0", 8, teammates="H10", seed=0)
    model = PPO("MlpPolicy", env, n_steps=8, batch_size=64, device="cpu", seed=0)
    with torch.no_grad():
        model.policy.action_net.weight.zero_()
        model.policy.action_net.bias.copy_(torch.tensor([0.0, 30.0, 0.0, 30.0, 0.0]))  # left and up
    heuristics, learner = Reaching().heuristics(), TrainedLearner(model)
    pairs = torch.tensor([[9, 0], [4, 0]])  # H10 follows the learner; H5 goes to a corner that pays less
    played = play_pairs(Reaching(), heuristics, learner, pairs, 32, torch.Generator().manual_seed(0))
    assert played.returns[0].mean() == 1.0
    assert played.returns[1].mean() == 0.0
