import pytest
import torch

from brdiv.games import shipped_games
from brdiv.nets import Population
from brdiv.runs import save_population
from tests.serve.running import running_server

SHORT = 25
"""Horizon of the tests' kitchen: pressing keys takes time."""


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """A small population of each game, which has learned nothing."""
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("runs")
    for name, kind in shipped_games().items():
        game = kind(horizon=SHORT) if name == "Cooking" else kind()
        population = Population(3, game.observation_size, game.n_actions, [8], gain=1.0)
        save_population(folder / name / "population.safetensors", population, game)
    return folder


@pytest.fixture(scope="session")
def kept(tmp_path_factory):
    return tmp_path_factory.mktemp("kept") / "episodes.jsonl"


@pytest.fixture(scope="session")
def server(runs, kept):
    """`brdiv serve` as people start it."""
    with running_server(runs, "--save", kept) as found:
        yield found
        assert not found.complaints()
