import pytest
import torch

from brdiv.objectives import LIPO, Sizes
from tests.objectives.rollouts import random_rollout
from tests.objectives.test_lbrdiv import PAIRS, SIZES, K, play


def lipo(cross_play, weight, against):
    """As written: every team's self-play less what it costs to be compatible with others."""
    total = 0.0
    for i in range(K):
        others = torch.stack([(cross_play[i, j] + cross_play[j, i]) / 2 for j in range(K) if j != i])
        total = total + cross_play[i, i] - weight * (others.max() if against == "best" else others.mean())
    return total


def built(**settings):
    objective = LIPO(**settings)
    objective.build(SIZES)
    return objective


@pytest.mark.parametrize("against", ["best", "mean"])
def test_slopes_are_the_derivative_of_the_objective(against, generator):
    cross_play = torch.rand(K, K, generator=generator, requires_grad=True)
    (expected,) = torch.autograd.grad(lipo(cross_play, 0.7, against), cross_play)
    objective = built(cross_play_weight=0.7, against=against)
    objective.observe(play(cross_play.detach()), 0.0)
    assert torch.allclose(objective.slope(PAIRS), expected, atol=1e-6)


def test_before_anything_was_played_all_other_teams_count_alike():
    slopes = built(cross_play_weight=0.6).slope(PAIRS)
    off = slopes[~torch.eye(K, dtype=torch.bool)]
    assert torch.allclose(off, torch.full_like(off, -0.6 / (K - 1)))


def test_without_mutual_information_there_is_no_classifier(generator):
    objective, rollout = built(), random_rollout(generator, K)
    assert objective.bonus(rollout) is None
    assert objective.auxiliary(rollout, None) == {}
    assert not list(objective.parameters())


def test_mutual_information_rewards_self_play_alone(generator):
    objective, rollout = built(mutual_information_weight=0.1), random_rollout(generator, K, rows=(8, 24))
    bonus = objective.bonus(rollout)
    assert (bonus[:8] < 0).all()
    assert (bonus[8:] == 0).all()
    own = objective.classifier.log_likelihood(rollout[:8])
    assert torch.allclose(bonus[:8], 0.1 * own)
    assert torch.isclose(objective.auxiliary(rollout, None)["classifier"], -own.mean())


@pytest.mark.parametrize("wrong", [{"cross_play_weight": -1.0}, {"memory": 0.5}, {"mutual_information_weight": -0.1}])
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        LIPO(**wrong)


def test_a_population_of_two_has_one_other_team():
    objective = LIPO(cross_play_weight=0.5)
    objective.build(Sizes(2, 6, 5, [4]))
    assert objective.slope(torch.tensor([[0, 1], [1, 0], [1, 1]])).tolist() == pytest.approx([-0.5, -0.5, 1.0])
