import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import brdiv.doors.gymnasium
from brdiv.errors import UserError
from brdiv.games import shipped_games
from tests.doors.populations import small_file

GAMES = list(shipped_games())


def episode(env, seed=None, act=lambda time: 0):
    """Play one episode: everything that was seen, the rewards, and who the teammate was."""
    observation, info = env.reset(seed=seed)
    seen, rewards, names, over = [observation], [], {info["teammate"]}, False
    while not over:
        observation, reward, terminated, truncated, info = env.step(act(len(rewards)))
        seen.append(observation)
        rewards.append(reward)
        names.add(info["teammate"])
        over = terminated or truncated
    assert not (terminated and truncated)
    return np.stack(seen), rewards, names


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("teammates", ["population", "heuristics"])
def test_gymnasiums_own_checker_has_nothing_to_say(name, teammates, tmp_path):
    who = small_file(tmp_path, name) if teammates == "population" else teammates
    env = gymnasium.make(f"brdiv/{name}-v0", teammates=who, seed=0, render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # what Gymnasium's checker complains by
        check_env(env.unwrapped)


@pytest.mark.parametrize("order", ["import brdiv, gymnasium", "import gymnasium, brdiv"])
def test_games_are_registered_whichever_is_imported_first_and_once(order):
    code = f"{order}\nimport importlib; importlib.reload(brdiv)\nprint([i for i in gymnasium.registry if 'brdiv' in i])"
    done = subprocess.run([sys.executable, "-W", "error::UserWarning", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert eval(done.stdout) == [f"brdiv/{name}-v0" for name in GAMES]


def test_the_name_of_the_module_before_the_id_is_enough():
    code = "import gymnasium; print(gymnasium.make('brdiv:brdiv/LBF-v0', teammates='H3').reset(seed=0)[1])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "{'teammate': 'H3'}\n"


def test_importing_brdiv_imports_neither_gymnasium_nor_torch():
    code = "import brdiv, sys; print([name for name in ('gymnasium', 'torch', 'numpy') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_registered_names_are_the_shipped_games():
    assert list(brdiv.doors.registration.NAMES) == GAMES


def test_a_seed_repeats_an_episode_and_the_next_one(tmp_path):
    env = gymnasium.make("brdiv/LBF-v0", teammates=[small_file(tmp_path, "LBF"), "H1", "random"])
    first = [episode(env, seed=5), episode(env)]
    again = [episode(env, seed=5), episode(env)]
    other = [episode(env, seed=6), episode(env)]
    for (seen, rewards, names), (seen2, rewards2, names2) in zip(first, again, strict=True):
        assert np.array_equal(seen, seen2)
        assert (rewards, names) == (rewards2, names2)
    assert not np.array_equal(first[0][0][0], other[0][0][0])
    made = gymnasium.make("brdiv/LBF-v0", teammates="H1", seed=3).reset()[0]
    assert np.array_equal(made, gymnasium.make("brdiv/LBF-v0", teammates="H1", seed=3).reset()[0])


def test_the_teammate_is_drawn_anew_for_each_episode_and_kept_within_it(tmp_path):
    file = small_file(tmp_path)
    env = gymnasium.make("brdiv/Reaching-v0", teammates=file, seed=0)
    met = [episode(env)[2] for _ in range(30)]
    assert all(len(names) == 1 for names in met)
    assert set.union(*met) == {f"{file}:1", f"{file}:2", f"{file}:3"}


@pytest.mark.parametrize(
    ("teammates", "names"),
    [
        ("H1,H4", {"H1", "H4"}),
        (["H2", "random"], {"H2", "random"}),
        ("FILE:2", {"FILE:2"}),
        (["FILE:1", "H7"], {"FILE:1", "H7"}),
        ("heuristics", {f"H{number}" for number in range(1, 12)}),
    ],
)
def test_teammates_are_named_as_on_the_command_line(teammates, names, tmp_path):
    file = small_file(tmp_path)
    real = [t.replace("FILE", file) for t in ([teammates] if isinstance(teammates, str) else teammates)]
    env = gymnasium.make("brdiv/Reaching-v0", teammates=real, seed=0)
    met = {env.reset()[1]["teammate"].replace(file, "FILE") for _ in range(200)}
    assert met == names


def test_a_heuristic_walks_as_its_rule_says():
    env = gymnasium.make("brdiv/Reaching-v0", teammates="H3", seed=0).unwrapped  # to the nearest optimal corner
    env.reset()
    for _ in range(8):
        env.step(0)
    x, y = env.rows.frame_view(0)[:2]
    assert (x, y) in {(0, 0), (4, 4)}


def test_time_is_up_at_the_horizon_as_truncation():
    env = gymnasium.make("brdiv/Reaching-v0", teammates="H3", seed=0, horizon=7)
    _, rewards, _ = episode(env)
    assert rewards == [0.0] * 7


def test_a_won_game_pays_and_terminates():
    env = gymnasium.make("brdiv/Reaching-v0", teammates="H10", seed=0)  # who follows the learner
    env.reset()
    for action in [1] * 4 + [3] * 12:
        _, reward, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            break
    assert (reward, terminated, truncated) == (1.0, True, False)


def test_it_renders_pixels_and_text(capsys):
    pixels = gymnasium.make("brdiv/LBF-v0", teammates="H1", seed=0, render_mode="rgb_array")
    pixels.reset()
    before = pixels.render()
    for _ in range(3):
        pixels.step(0)
    assert before.dtype == np.uint8
    assert before.ndim == 3
    assert not np.array_equal(before, pixels.render())
    gymnasium.make("brdiv/LBF-v0", teammates="H1", seed=0, render_mode="human").reset()
    printed = capsys.readouterr().out
    assert "LBF with H1\nepisode 1, step 0, return 0.00" in printed
    assert printed.count("f") >= 3


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"teammates": "H12"}, "no heuristic H12; Reaching has H1,"),
        ({"teammates": "FILE:9"}, "after the colon give a number from 1 to 3"),
        ({"teammates": "nowhere/run"}, "no population file at nowhere/run"),
        ({"teammates": "nowhere:2"}, "no population file at nowhere"),
        ({"teammates": []}, "teammates names nobody"),
        ({"teammates": [3]}, "3 is neither a name nor a population"),
        ({"teammates": "OTHER"}, "plays LBF(size=6, foods=3, max_level=2, horizon=50), and not Reaching"),
        ({"teammates": "FILE", "size": 7}, "and not Reaching(size=7"),
        ({"teammates": "H1", "sise": 7}, "sise"),
        ({"teammates": "H1", "render_mode": "film"}, "render_mode is 'film'"),
        ({"teammates": "FILE,OTHER"}, "play different games"),
    ],
)
def test_a_mistake_is_one_clear_line(arguments, complaint, tmp_path):
    files = {"FILE": small_file(tmp_path), "OTHER": small_file(tmp_path, "LBF")}
    if isinstance(arguments["teammates"], str):
        for name, file in files.items():
            arguments = {**arguments, "teammates": arguments["teammates"].replace(name, file)}
    with pytest.raises(UserError) as error:
        gymnasium.make("brdiv/Reaching-v0", disable_env_checker=True, **arguments)
    assert complaint in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_an_action_that_there_is_not_is_refused():
    env = gymnasium.make("brdiv/LBF-v0", teammates="H1", disable_env_checker=True)
    env.reset(seed=0)
    with pytest.raises(gymnasium.error.InvalidAction):
        env.step(6)
