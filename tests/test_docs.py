"""Code in the documentation runs."""

import re
from pathlib import Path

import torch
from torchrl.envs.utils import check_env_specs

from brdiv.envs import Reaching, TwoPlayerEnv
from brdiv.module import TeammateGenerator
from brdiv.nets import Population
from brdiv.populations import save_population
from tests.objectives.rollouts import random_rollout

ROOT = Path(__file__).parents[1]


def code_blocks(name):
    return re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), re.DOTALL)


def test_the_readmes_python_acts_with_a_population(tmp_path, monkeypatch):
    game = Reaching()
    population = Population(4, game.observation_size, game.n_actions, [8])
    save_population(tmp_path / "runs/reaching-brdiv-seed0/population.safetensors", population, game)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(code_blocks("README.md")[0], names)
    assert names["action"].shape == (64, 2)


def test_the_game_in_contributing_is_a_game():
    names = {"__name__": "docs"}
    exec(code_blocks("CONTRIBUTING.md")[0], names)
    game = names["Line"]()
    check_env_specs(TwoPlayerEnv(game, rows=5))
    state = game.from_view(torch.tensor([[[1, 1], [1, 1]]]))
    _, reward, terminated = game.step(state, torch.tensor([[1, 1]]))
    assert (reward.item(), terminated.item()) == (1.0, True)
    assert game.settings() == {"length": 7, "horizon": 20}


def test_the_method_in_contributing_trains(generator):
    names = {"__name__": "docs"}
    exec(code_blocks("CONTRIBUTING.md")[1], names)
    objective = names["Restless"](weight=0.5)
    module = TeammateGenerator(6, 5, objective, n_types=3, hidden=[8])
    losses = module.losses(random_rollout(generator, 3, rows=(8, 0)), entropy_weight=0.0)
    assert losses["restless"] < 0
    assert objective.settings() == {"weight": 0.5}


def test_nothing_was_left_to_be_filled_in():
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        assert not re.search(r"@[A-Z_]+@", path.read_text()), path
