import torch

from brdiv.games import Reaching
from brdiv.rollouts import Pairing, TwoPlayerEnv


def rollout(env, steps, action=None):
    def policy(tensordict):
        if action is None:
            return env.rand_action(tensordict)
        return tensordict.set(("agents", "action"), torch.full((env.rows, 2), action))

    return env.rollout(steps, policy, break_when_any_done=False)


def test_a_task_done_terminates_and_time_up_truncates_never_both():
    played = rollout(TwoPlayerEnv(Reaching(horizon=20), rows=512), 100)["next"]
    terminated, truncated = played["terminated"], played["truncated"]
    assert terminated.any()
    assert truncated.any()
    assert not (terminated & truncated).any()
    assert torch.equal(played["done"], terminated | truncated)
    assert torch.equal(terminated, played["reward"] > 0)
    assert (played["clock"][truncated] == 20).all()


def test_meeting_at_the_last_moment_counts_as_done():
    game = Reaching(horizon=1, goals=[(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (3, 3)],
                    payoffs=[1.0] * 9)  # fmt: skip
    played = rollout(TwoPlayerEnv(game, rows=256), 1, action=0)["next"]
    met = played["reward"] > 0
    assert met.any()
    assert torch.equal(played["terminated"], met)
    assert torch.equal(played["truncated"], ~met)


def test_ids_are_kept_until_the_episode_ends_and_drawn_anew_then():
    env = TwoPlayerEnv(Reaching(horizon=7), pairing=Pairing(5, 16, 48))
    played = rollout(env, 70)
    ids, done = played["ids"], played["next", "done"].squeeze(-1)
    assert torch.equal(played["next", "ids"], ids)
    kept = (ids[:, 1:] == ids[:, :-1]).all(-1)
    assert kept[~done[:, :-1]].all()
    assert not kept[done[:, :-1]].all()
    assert (ids[:16, :, 0] == ids[:16, :, 1]).all()
    assert (ids[16:, :, 0] != ids[16:, :, 1]).all()


def test_next_holds_the_last_observation_not_the_first_of_the_next_episode():
    env = TwoPlayerEnv(Reaching(horizon=4), rows=64)
    played = rollout(env, 12)
    expected, _, _ = env.game.step(played["state"].flatten(), played["agents", "action"].flatten(0, 1))
    assert torch.equal(played["next", "agents", "observation"].flatten(0, 1), env.game.observe(expected))
    assert (played["next", "clock"].max(), played["clock"].max()) == (4, 3)


def test_building_specs_uses_no_randomness():
    env = TwoPlayerEnv(Reaching(), rows=8, seed=3)
    expected = Reaching().initial(8, torch.Generator().manual_seed(3))
    assert torch.equal(env.reset()["state", "positions"], expected["positions"])
