"""Every example, and all Python of docs/python.md, run as printed, with small populations and budgets."""

import importlib.util
import re
import runpy
import sys
from pathlib import Path

import pytest

import brdiv
from brdiv.commands import main
from brdiv.games import Reaching
from tests.doors.populations import small_population
from tests.test_docs import code_blocks

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run folder with a small population, where the examples look for one."""
    monkeypatch.chdir(tmp_path)
    folder = Path("runs/reaching-brdiv-seed0")
    population, about = small_population(Reaching(), n_types=4), {"method": {"name": "BRDiv"}}
    brdiv.save_population(folder / "population.safetensors", population, Reaching(horizon=10), about)
    return folder


def needs(*modules):
    for module in modules:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")


def start(monkeypatch, name, *arguments):
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    return runpy.run_path(str(EXAMPLES / name), run_name="__main__")


def test_ppo_learns_beside_a_population_and_meets_strangers(run, monkeypatch, capsys):
    needs("stable_baselines3")
    start(monkeypatch, "stable_baselines3_ppo.py", str(run), "--steps", "8000", "--episodes", "4", "--out", "ppo.png")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("8,192 steps in ")
    names = [line.split()[0] for line in lines[2:]]
    assert names == [*(f"pi^{k}" for k in range(1, 5)), *(f"H{k}" for k in range(1, 12)), "known", "strangers"]
    assert all(0 <= float(number) <= 1 for line in lines[2:] for number in line.split()[1:])
    assert Path("ppo.png").read_bytes().startswith(b"\x89PNG")


def test_the_notebook_trains_measures_and_draws(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = start(monkeypatch, "notebook.py", "runs/mine", "1280")
    assert names["saved"].about["steps"] == 1280
    assert names["matrix"].shape == (4, 4)
    for file in ("notebook_cross_play.png", "notebook_play.gif", "notebook_strangers.png"):
        assert (tmp_path / "runs/mine" / file).stat().st_size > 1000
    assert len(names["evaluation"].cells) == 11


def test_all_python_of_the_documentation_runs_in_its_order(run, monkeypatch, capsys):
    needs("pettingzoo", "stable_baselines3", "onnxruntime", "onnxscript")
    main(["export", str(run), "--to", "onnx"])
    names, blocks = {}, code_blocks("docs/python.md")
    assert len(blocks) == 10
    for block in blocks:
        exec(re.sub(r"\b(100_000|10_000)\b", "1280", block), names)
    assert names["trained"].about["steps"] == 1280
    assert names["model"].num_timesteps >= 1280
    assert names["seen"].shape == (1, 50)
    assert Path("play.gif").exists()
    assert capsys.readouterr().out.splitlines()[-1] in Reaching().action_names()


def test_the_torchrl_example_is_ten_lines():
    (block,) = (block for block in code_blocks("docs/python.md") if "torchrl" in block)
    assert len([line for line in block.splitlines() if line.strip()]) <= 10
    names = {}
    exec(block, names)
    assert names["seen"].shape == (32, 8, 2, 105)
    assert names["reward"].shape == (32, 8, 1)
