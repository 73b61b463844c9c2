"""What every exported objective must hold."""

import inspect
import json

import pytest
import torch

import brdiv.objectives
from brdiv.nets import Population
from brdiv.objectives import Objective, Sizes
from tests.objectives.rollouts import random_rollout

OBJECTIVES = [
    objective
    for name in brdiv.objectives.__all__
    if inspect.isclass(objective := getattr(brdiv.objectives, name)) and issubclass(objective, Objective)
]

SIZES = Sizes(n_types=5, observation_size=6, n_actions=5, hidden=[8])


@pytest.fixture(params=OBJECTIVES, ids=lambda c: c.__name__)
def objective(request):
    objective = request.param()
    objective.build(SIZES)
    return objective


def test_self_play_is_worth_about_one_and_cross_play_no_more(objective):
    slopes = objective.slope(torch.cartesian_prod(torch.arange(5), torch.arange(5))).view(5, 5)
    assert torch.allclose(slopes.diagonal(), torch.ones(5))
    if objective.cross_play:
        assert (slopes[~torch.eye(5, dtype=torch.bool)] <= 0).all()


def test_settings_survive_json_and_build_the_objective_again(objective):
    again = type(objective)(**json.loads(json.dumps(objective.settings())))
    assert again.settings() == objective.settings()


def test_what_it_learned_is_saved_with_the_run(objective, generator):
    """State of its own lives in the state_dict, so that a continued run goes on with it."""
    population = Population(5, 6, 5, [8])
    optimiser = torch.optim.Adam(
        [group for group in objective.parameter_groups() if group["params"]] or [torch.zeros(1)]
    )
    for _ in range(3):
        rollout = random_rollout(generator, 5)
        objective.observe(rollout, 1.0)
        losses = objective.auxiliary(rollout, population)
        if losses:
            optimiser.zero_grad()
            sum(losses.values()).backward()
            optimiser.step()
        objective.after_update()
    again = type(objective)(**objective.settings())
    again.build(SIZES)
    again.load_state_dict(objective.state_dict())
    rollout = random_rollout(generator, 5)
    for each in (objective, again):
        each.observe(rollout, 1.0)
    assert torch.equal(again.slope(rollout["ids"]), objective.slope(rollout["ids"]))
    bonus = objective.bonus(rollout)
    assert bonus is None or torch.equal(again.bonus(rollout), bonus)
    for name, loss in objective.auxiliary(rollout, population).items():
        assert torch.equal(again.auxiliary(rollout, population)[name], loss)


def test_what_it_adds_is_finite_and_shaped_as_promised(objective, generator):
    rollout = random_rollout(generator, 5)
    assert objective.slope(rollout["ids"]).shape == rollout.shape
    bonus = objective.bonus(rollout)
    assert bonus is None or (bonus.shape == rollout.shape and not bonus.requires_grad)
    for loss in objective.auxiliary(rollout, Population(5, 6, 5, [8])).values():
        assert loss.shape == ()
        assert loss.isfinite()
    assert all(value.isfinite() for value in objective.scalars().values())


def test_its_name_in_tables_is_short(objective):
    assert 0 < len(objective.label) <= 12
