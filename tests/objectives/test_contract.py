"""What every exported objective must hold."""

import inspect
import json

import pytest
import torch

import brdiv.objectives
from brdiv.objectives import Objective

OBJECTIVES = [
    objective
    for name in brdiv.objectives.__all__
    if inspect.isclass(objective := getattr(brdiv.objectives, name)) and issubclass(objective, Objective)
]

pytestmark = pytest.mark.parametrize("objective", [c() for c in OBJECTIVES], ids=[c.__name__ for c in OBJECTIVES])


def test_self_play_is_worth_about_one_and_cross_play_no_more(objective):
    objective.attach(5)
    slopes = objective.slope(torch.cartesian_prod(torch.arange(5), torch.arange(5))).view(5, 5)
    assert torch.allclose(slopes.diagonal(), torch.ones(5))
    if objective.cross_play:
        assert (slopes[~torch.eye(5, dtype=torch.bool)] <= 0).all()


def test_settings_survive_json_and_build_the_objective_again(objective):
    again = type(objective)(**json.loads(json.dumps(objective.settings())))
    assert again.settings() == objective.settings()
