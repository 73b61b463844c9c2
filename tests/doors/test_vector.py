import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from brdiv.games import Reaching, shipped_games
from brdiv.runs import load_population, save_population
from brdiv.teamwork import LearnedPolicies, RandomPolicies, all_pairs, play_pairs
from tests.doors.populations import small_file, small_population


def steps(env, number, seed=0):
    """Random play: what each step returned, the actions first."""
    generator = np.random.default_rng(seed)
    for _ in range(number):
        actions = generator.integers(env.single_action_space.n, size=env.num_envs)
        yield actions, *env.step(actions)


@pytest.mark.parametrize("name", shipped_games())
def test_a_batch_has_the_shapes_and_types_that_its_spaces_say(name):
    env = gymnasium.make_vec(f"brdiv/{name}-v0", num_envs=5, teammates="H1,random", seed=0)
    observation, infos = env.reset()
    assert env.observation_space.contains(observation)
    assert infos["teammate"].shape == (5,)
    for _, observation, reward, terminated, truncated, _ in steps(env, 60):
        assert env.observation_space.contains(observation)
        assert reward.shape == terminated.shape == truncated.shape == (5,)
        assert terminated.dtype == truncated.dtype == bool


def test_it_is_the_native_batch_that_is_made_and_it_resets_in_the_same_step():
    env = gymnasium.make_vec("brdiv/LBF-v0", num_envs=2, teammates="H1")
    assert type(env).__name__ == "TeammateVectorEnv"
    assert env.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.SAME_STEP


def test_rows_end_one_by_one_and_each_meets_someone_new(tmp_path):
    env = gymnasium.make_vec("brdiv/Reaching-v0", num_envs=32, teammates=[small_file(tmp_path), "heuristics"], seed=0)
    _, infos = env.reset()
    now, ended, changed = infos["teammate"], 0, 0
    for _, observation, reward, terminated, truncated, infos in steps(env, 120):
        done = terminated | truncated
        assert (infos["teammate"][~done] == now[~done]).all()
        assert ("final_obs" in infos) == done.any()
        if done.any():
            assert (infos["_final_obs"] == done).all()
            assert (infos["final_info"]["teammate"][done] == now[done]).all()
            won = terminated & (reward > 0)
            own, other = infos["final_obs"][won].reshape(-1, 2, 25).argmax(-1).T
            assert (own == other).all(), "the true last observation: both on one goal"
            assert (observation[won].reshape(-1, 2, 25).argmax(-1) != own[:, None]).any(-1).all()
        ended, changed = ended + done.sum(), changed + (infos["teammate"][done] != now[done]).sum()
        now = infos["teammate"]
    assert ended > 60
    assert changed > 0.8 * ended


def test_a_seed_repeats_everything_that_follows(tmp_path):
    env = gymnasium.make_vec("brdiv/LBF-v0", num_envs=8, teammates=[small_file(tmp_path, "LBF"), "H1,random"])

    def play(seed):
        first, _ = env.reset(seed=seed)
        return [first, *(part for step in steps(env, 60) for part in step[1:5])]

    one, again, other = play(1), play(1), play(2)
    assert all(np.array_equal(a, b) for a, b in zip(one, again, strict=True))
    assert not np.array_equal(one[0], other[0])


@pytest.mark.parametrize("teammate", ["H1", "H6", "H10"])
def test_memory_of_a_teammate_begins_with_its_own_episode(teammate):
    """LBF's H10 keeps its target, H6 its order: many rows ending at odd times play as rows played once."""
    env = gymnasium.make_vec("brdiv/LBF-v0", num_envs=64, teammates=[teammate, "random"], seed=0, horizon=20)
    env.reset()
    returns, now = [], np.zeros(64)
    for _, _, reward, terminated, truncated, infos in steps(env, 600):
        now += reward
        done = terminated | truncated
        if done.any():
            returns += list(now[done & (infos["final_info"]["teammate"] == teammate)])
            now[done] = 0
    game = shipped_games()["LBF"](horizon=20)
    heuristics = game.heuristics()
    number = list(heuristics.names).index(teammate)
    pairs, generator = torch.tensor([[number, 0]]), torch.Generator().manual_seed(0)
    played = play_pairs(game, heuristics, RandomPolicies(6), pairs, 4000, generator).returns[0]
    error = played.std() * (1 / len(returns) + 1 / 4000) ** 0.5
    assert len(returns) > 500
    assert abs(np.mean(returns) - played.mean()) < 4 * error


def test_what_a_learner_earns_is_what_the_loop_of_evaluation_measures(tmp_path):
    population = small_population(Reaching(), n_types=2)
    population.layers[-1].bias.data[0, 0, 0] = 50  # the first teammate never moves
    file = str(save_population(tmp_path / "two.safetensors", population, Reaching()))
    env = RecordEpisodeStatistics(gymnasium.make_vec("brdiv/Reaching-v0", 128, teammates=f"{file}:2", seed=0), 10_000)
    env.reset()
    for _ in steps(env, 600):
        pass
    saved = load_population(file)
    teammates, learner = LearnedPolicies(saved.population), RandomPolicies(5)
    generator = torch.Generator().manual_seed(0)
    played = play_pairs(saved.game, teammates, learner, all_pairs(teammates, learner), 4000, generator)
    returns = np.array(env.return_queue)
    error = played.returns[1].std() * (1 / len(returns) + 1 / 4000) ** 0.5
    assert len(returns) > 1000
    assert abs(returns.mean() - played.returns[1].mean()) < 4 * error
    assert played.returns[0].mean() == 0
    assert returns.mean() > 0.05


def test_a_custom_policy_and_a_loaded_population_sit_down_as_they_are(tmp_path):
    saved = load_population(small_file(tmp_path))
    env = gymnasium.make_vec("brdiv/Reaching-v0", num_envs=40, teammates=[saved, RandomPolicies(5)], seed=0)
    names = set(env.reset()[1]["teammate"])
    assert names == {"teammate 1", "teammate 2", "teammate 3", "random"}


def test_a_game_of_ones_own_is_played_by_its_object():
    from brdiv.doors.vector import TeammateVectorEnv

    env = TeammateVectorEnv(3, Reaching(size=7, goals=[(0, 6)], payoffs=[2.0]), teammates="H1", seed=0)
    assert env.reset()[0].shape == (3, 2 * 49)


@pytest.mark.parametrize("actions", [[0, 0, 6], [0, -1, 0], [0, 0], [[0], [0], [0]]])
def test_actions_that_there_are_not_are_refused(actions):
    env = gymnasium.make_vec("brdiv/LBF-v0", num_envs=3, teammates="H1", seed=0)
    env.reset()
    with pytest.raises(gymnasium.error.InvalidAction):
        env.step(np.array(actions))


def test_every_row_is_drawn():
    env = gymnasium.make_vec("brdiv/LBF-v0", num_envs=2, teammates="H1", seed=0, render_mode="rgb_array")
    env.reset()
    first, second = env.render()
    assert first.shape == second.shape
    assert not np.array_equal(first, second)
