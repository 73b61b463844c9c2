"""Learning works: a tiny game, two types, seconds."""

import pytest
import torch
from lightning import Trainer

import brdiv.objectives
from brdiv.games import Reaching
from brdiv.metrics import mean_diagonal, mean_off_diagonal
from brdiv.objectives import BRDiv, Objective
from brdiv.teamwork import both_seats, cross_play
from brdiv.training import RolloutData, TeammateGenerator

METHODS = [
    method
    for name in brdiv.objectives.__all__
    if isinstance(method := getattr(brdiv.objectives, name), type) and issubclass(method, Objective)
]


def learned_matrix(objective, updates=350):
    """Train on a 3 x 3 grid with two corners, both agents starting in the middle, and measure the matrix."""
    torch.manual_seed(0)
    game = Reaching(size=3, goals=[(0, 0), (2, 2)], payoffs=[1.0, 1.0], horizon=8)
    rows = {"self_play_rows": 32, "cross_play_rows": 32}
    data = RolloutData(game, 2, cross_play=objective.cross_play, steps=64 * 8 * updates, **rows)
    model = {"n_types": 2, "hidden": [32], "learning_rate": 5e-3, "tau": 0.05, "entropy_weight": 0.01}
    module = TeammateGenerator(game.observation_size, game.n_actions, objective, **model)
    Trainer(max_epochs=1, logger=False, enable_checkpointing=False, enable_progress_bar=False,
            enable_model_summary=False, accelerator="cpu").fit(module, data)  # fmt: skip
    return cross_play(game, *both_seats(module.population), 200, torch.Generator().manual_seed(0)).returns.mean(-1)


def test_two_teams_learn_to_meet_on_a_corner_each():
    matrix = learned_matrix(BRDiv(cross_play_weight=1.4))
    assert mean_diagonal(matrix) > 0.8
    assert mean_off_diagonal(matrix) < 0.2


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
def test_no_method_destroys_self_play(method):
    assert mean_diagonal(learned_matrix(method())) > 0.8
