import math

import pytest
import torch

from brdiv.objectives import AnyPlay, Sizes
from brdiv.training import TeammateGenerator
from brdiv.training.returns import n_step_returns
from tests.objectives.rollouts import random_rollout

K, D, A = 3, 6, 5


@pytest.fixture
def sure():
    """Any-Play with a classifier that always says: team 1 with 1/2, teams 0 and 2 with 1/4 each."""
    objective = AnyPlay(intrinsic_weight=0.1, classifier_weight=2.0)
    objective.build(Sizes(K, D, A, [4]))
    last = objective.classifier.layers[-1]
    with torch.no_grad():
        last.weight.zero_()
        last.bias.copy_(torch.tensor([0.25, 0.5, 0.25]).log())
    return objective


def test_the_intrinsic_reward_is_the_log_likelihood_of_the_team(sure, generator):
    rollout = random_rollout(generator, K, rows=(16, 0))
    own = torch.where(rollout["ids"][..., 0] == 1, math.log(0.5), math.log(0.25))
    assert torch.allclose(sure.bonus(rollout), 0.1 * own)


def test_the_classifier_learns_by_cross_entropy(sure, generator):
    rollout = random_rollout(generator, K, rows=(16, 0))
    second = (rollout["ids"][..., 0] == 1).float().mean()
    by_hand = 2.0 * (second * math.log(2) + (1 - second) * math.log(4))
    assert torch.isclose(sure.auxiliary(rollout, None)["classifier"], by_hand)


def test_only_the_classifier_is_trained_by_its_loss(sure, generator):
    torch.manual_seed(0)
    module = TeammateGenerator(D, A, AnyPlay(), n_types=K, hidden=[8])
    module.losses(random_rollout(generator, K, rows=(16, 0)), 0.0)["classifier"].backward()
    touched = {name.split(".")[0] for name, p in module.named_parameters() if p.grad is not None}
    assert touched == {"objective"}


def test_returns_hold_the_intrinsic_reward(generator):
    torch.manual_seed(0)
    module = TeammateGenerator(D, A, AnyPlay(intrinsic_weight=0.5), n_types=K, hidden=[8], gamma=0.9)
    rollout = random_rollout(generator, K, rows=(16, 0))
    after = rollout["next"]
    reward = after["reward"].squeeze(-1) + module.objective.bonus(rollout)
    value = module.critic(after["agents", "observation"], rollout["ids"]).detach()
    ends = after["terminated"].squeeze(-1), after["truncated"].squeeze(-1)
    assert torch.allclose(module.targets(rollout)[0], n_step_returns(reward, value, *ends, gamma=0.9))


def test_the_classifier_may_have_a_learning_rate_of_its_own():
    module = TeammateGenerator(D, A, AnyPlay(classifier_learning_rate=0.5), n_types=K, hidden=[8], learning_rate=0.1)
    rates = {id(p): group["lr"] for group in module.configure_optimizers().param_groups for p in group["params"]}
    assert {rates[id(p)] for p in module.objective.parameters()} == {0.5}
    assert {rates[id(p)] for p in module.population.parameters()} == {0.1}


def test_a_classifier_learns_to_tell_two_teams_apart(generator):
    """Team 0 always does action 0, team 1 action 1: its reward for being recognised goes to 0 from below."""
    torch.manual_seed(0)
    objective = AnyPlay(intrinsic_weight=1.0)
    objective.build(Sizes(2, D, A, [16]))
    optimiser = torch.optim.Adam(objective.parameters(), lr=0.01)
    for _ in range(100):
        rollout = random_rollout(generator, 2, rows=(32, 0))
        rollout["agents", "action"] = rollout["ids"].clone()
        optimiser.zero_grad()
        objective.auxiliary(rollout, None)["classifier"].backward()
        optimiser.step()
    assert -0.1 < float(objective.bonus(rollout).mean()) < 0.0


@pytest.mark.parametrize("wrong", ["intrinsic_weight", "classifier_weight", "classifier_learning_rate"])
def test_negative_settings_are_refused(wrong):
    with pytest.raises(ValueError, match=wrong):
        AnyPlay(**{wrong: -1.0})
