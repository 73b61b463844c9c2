"""Code in the documentation runs."""

import re
import sys
import types
from pathlib import Path

import pytest
import torch
from torchrl.envs.utils import check_env_specs

from brdiv.commands import main
from brdiv.commands.line.parser import call
from brdiv.games import Reaching
from brdiv.nets import Population
from brdiv.rollouts import TwoPlayerEnv
from brdiv.runs import load_learner, load_population, save_population
from brdiv.training import TeammateGenerator
from tests.learners.small import UPDATE, learn
from tests.objectives.rollouts import random_rollout
from tests.small_runs import train

ROOT = Path(__file__).parents[1]


def code_blocks(name):
    return re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), re.DOTALL)


def example(containing, name="CONTRIBUTING.md"):
    (block,) = (block for block in code_blocks(name) if containing in block)
    return block


def module_of(monkeypatch, name, code):
    """Code of the documentation as a module that can be imported."""
    module = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    exec(code, module.__dict__)
    return module


def test_the_readmes_python_acts_with_a_population(tmp_path, monkeypatch):
    game = Reaching()
    population = Population(4, game.observation_size, game.n_actions, [8])
    save_population(tmp_path / "runs/reaching-brdiv-seed0/population.safetensors", population, game)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(code_blocks("README.md")[0], names)
    assert names["saved"].population.n_types == 4
    assert names["action"] in range(5)
    assert names["info"]["teammate"] in {f"teammate {k}" for k in range(1, 5)}


def test_the_game_in_contributing_is_a_game(monkeypatch):
    game = module_of(monkeypatch, "docs_line", example("class Line")).Line()
    check_env_specs(TwoPlayerEnv(game, rows=5))
    state = game.from_view(torch.tensor([[[1, 1], [1, 1]]]))
    after, reward, won = game.step(state, torch.tensor([[1, 1]]))
    assert (reward.item(), won.item()) == (1.0, True)
    watcher = game.strategies()
    watcher.watch(game.view(state), torch.tensor([True]))
    watcher.watch(game.view(after), torch.tensor([True]))
    assert watcher.names[watcher.found().item()] == "left"
    assert game.settings() == {"length": 7, "horizon": 20}
    assert game.text([0, 6]) == "T.....B"


def test_a_game_outside_the_package_does_all_that_ours_do(tmp_path, monkeypatch, capsys):
    (tmp_path / "my_games.py").write_text(example("class Line"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "my_games", raising=False)
    run = train(tmp_path / "run", "--data.game", "my_games.Line", config=str(plain_config(tmp_path)))
    game = load_population(run, allow_imports=True).game
    assert type(game).__module__ == "my_games"
    main(["play", "H1", f"{run}:plastic", "--allow-imports", "--episodes", "4", "--text", "--out", "play.gif"])
    out = capsys.readouterr().out
    assert "Line: H1 with PLASTIC" in out
    assert re.search(r"^[.TBX]{7}$", out, re.MULTILINE)
    assert (tmp_path / "play.gif").read_bytes().startswith(b"GIF")
    main(["evaluate", str(run), "--allow-imports", "--episodes", "2", "--out", "evaluated"])
    assert {row.split(",")[3] for row in (tmp_path / "evaluated/cells.csv").read_text().splitlines()[1:]} == {
        "H1",
        "H2",
    }


def plain_config(folder):
    """A config without a game."""
    path = folder / "plain.yaml"
    path.write_text("model: { objective: BRDiv, n_types: 2 }\n")
    return path


def test_the_method_in_contributing_trains(generator, monkeypatch):
    objective = module_of(monkeypatch, "docs_restless", example("class Restless")).Restless(weight=0.5)
    module = TeammateGenerator(6, 5, objective, n_types=3, hidden=[8])
    losses = module.losses(random_rollout(generator, 3, rows=(8, 0)), entropy_weight=0.0)
    assert losses["restless"] < 0
    assert objective.settings() == {"weight": 0.5}


def test_the_learner_in_contributing_plays_with_everyone(capsys):
    names = {"__name__": "docs"}
    exec(example("class Copycat"), names)
    exec(example("Copycat()"), names)
    assert names["played"].returns.shape == (11, 64)
    assert "'H11'" in capsys.readouterr().out


def test_the_trained_learner_in_contributing_trains(tmp_path, monkeypatch):
    (tmp_path / "my_learners.py").write_text(example("class Foresight"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "my_learners", raising=False)
    run = learn(tmp_path / "run", "--model.method", "my_learners.Foresight")
    about = load_learner(run).about
    assert about["method"] == {"name": "Foresight", "label": "Foresight", "settings": {"weight": 0.1}}
    assert about["steps"] == 4 * UPDATE
    checkpoint = torch.load(max((run / "checkpoints").glob("step_*")), weights_only=True)
    assert "method.guess.weight" in checkpoint["state_dict"]


def test_the_figure_in_contributing_is_drawn(tmp_path):
    names = {}
    exec(example("def length_histogram"), names)
    names["length_histogram"]([3, 4, 4, 5], "lengths").savefig(tmp_path / "lengths.png")
    assert (tmp_path / "lengths.png").stat().st_size > 1000


def test_the_command_in_contributing_is_a_command(tmp_path, capsys):
    names = {}
    exec(example("def count"), names)
    path = save_population(tmp_path / "p.safetensors", Population(2, 50, 5, [4]), Reaching())
    call("count", names["count"], [str(path), "--seat", "1"])
    assert capsys.readouterr().out == "458 weights in seat 1\n"
    call("count", names["count"], [str(path), "--quiet"])
    assert capsys.readouterr().out == "458\n"
    with pytest.raises(SystemExit):
        call("count", names["count"], ["--help"])
    assert "Whose policies to count" in capsys.readouterr().out


def test_nothing_was_left_to_be_filled_in():
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        assert not re.search(r"@[A-Z_]+@", path.read_text()), path
