"""Nothing in the training loop leaves the device: no device is mixed, nothing is copied or read back."""

import json
import subprocess
import sys

import pytest

from brdiv.games import shipped_games

METHODS = (
    "BRDiv",
    "BRDiv under pressure",
    "Independent",
    "TrajeDi",
    "AnyPlay",
    "LBRDiv",
    "LIPO",
    "LIPO with mutual information",
)


@pytest.fixture(scope="module")
def found():
    command = [sys.executable, "-m", "tests.walk_off_the_cpu"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("game", shipped_games())
@pytest.mark.parametrize("method", METHODS)
def test_an_update_stays_on_the_device(method, game, found):
    assert found[f"update of {game}, {method}"] == []


@pytest.mark.parametrize("game", shipped_games())
def test_measuring_stays_on_the_device(game, found):
    assert found[f"measuring of {game}"] == []


@pytest.mark.parametrize("game", shipped_games())
def test_what_is_saved_of_play_is_on_the_cpu(game, found):
    assert found[f"checkpoint of {game}"] == []


@pytest.mark.parametrize("game", shipped_games())
@pytest.mark.parametrize("method", ["PPO", "LIAM"])
def test_an_update_of_a_learner_stays_on_the_device(method, game, found):
    assert found[f"learner of {game}, {method}"] == []


@pytest.mark.parametrize("game", shipped_games())
def test_measuring_a_learner_stays_on_the_device_but_for_who_plays_whom(game, found):
    assert [line for line in found[f"measuring a learner of {game}"] if "torch.tensor(pairs" not in line] == []


@pytest.mark.parametrize("game", shipped_games())
def test_what_is_saved_of_a_learners_play_is_on_the_cpu(game, found):
    assert found[f"checkpoint of a learner of {game}"] == []


@pytest.mark.parametrize("game", shipped_games())
def test_an_update_of_responses_to_teams_stays_on_the_device(game, found):
    assert found[f"responses of {game}"] == []
