import pytest
import torch
from tensordict import TensorDict

from brdiv.metrics import best_response_diversity
from brdiv.objectives import BRDiv, LBRDiv, Sizes
from brdiv.objectives.lbrdiv import constraint_slack, lagrangian_slopes
from brdiv.training import TeammateGenerator

K = 4
SIZES = Sizes(K, 6, 5, [4])
PAIRS = torch.cartesian_prod(torch.arange(K), torch.arange(K)).view(K, K, 2)


def lagrangian(cross_play, multipliers, margin):
    """As written: every pair of teams compared in both directions."""
    total = sum(cross_play[i, i] for i in range(K))
    for i in range(K):
        for j in range(K):
            if i != j:
                total = total + multipliers[0, i, j] * (cross_play[i, i] - cross_play[i, j] - margin)
                total = total + multipliers[1, i, j] * (cross_play[j, j] - cross_play[i, j] - margin)
    return total


def play(matrix, episodes=50):
    """A window in which every pair earns its entry of the matrix in episodes of one step."""
    rows = K * K
    return TensorDict(
        {
            "ids": PAIRS.reshape(rows, 1, 2).expand(-1, episodes, -1),
            "next": {
                "reward": matrix.reshape(rows, 1, 1).expand(-1, episodes, -1),
                "done": torch.ones(rows, episodes, 1, dtype=torch.bool),
            },
        },
        [rows, episodes],
    )


@pytest.fixture
def multipliers(generator):
    return torch.rand(2, K, K, generator=generator) * (1 - torch.eye(K))


def test_slopes_are_the_derivative_of_the_lagrangian(multipliers, generator):
    cross_play = torch.rand(K, K, generator=generator, requires_grad=True)
    (expected,) = torch.autograd.grad(lagrangian(cross_play, multipliers, 0.3), cross_play)
    assert torch.allclose(lagrangian_slopes(multipliers), expected)
    objective = LBRDiv()
    objective.build(SIZES)
    objective.multipliers.data.copy_(multipliers)
    assert torch.allclose(objective.slope(PAIRS), expected / expected.diagonal().mean())


def test_slack_is_the_derivative_in_the_multipliers(multipliers, generator):
    cross_play = torch.rand(K, K, generator=generator)
    leaf = multipliers.clone().requires_grad_()
    (expected,) = torch.autograd.grad(lagrangian(cross_play, leaf, 0.3), leaf)
    assert torch.allclose(constraint_slack(cross_play, 0.3), expected, atol=1e-6)


def test_with_all_multipliers_at_one_it_is_brdiv(generator):
    objective, brdiv = LBRDiv(multiplier=1.0), BRDiv()
    for each in (objective, brdiv):
        each.build(SIZES)
    assert torch.allclose(objective.slope(PAIRS), brdiv.slope(PAIRS))
    cross_play = torch.rand(K, K, generator=generator)
    ones = (1 - torch.eye(K)).repeat(2, 1, 1)
    assert torch.isclose(lagrangian(cross_play, ones, 0.0), best_response_diversity(cross_play))


def train(matrix, updates, **settings):
    objective = LBRDiv(multiplier_learning_rate=0.05, **settings)
    objective.build(SIZES)
    optimiser = torch.optim.Adam(objective.parameter_groups())
    for _ in range(updates):
        objective.observe(play(matrix), 0.0)
        optimiser.zero_grad()
        objective.auxiliary(None, None)["lagrangian"].backward()
        optimiser.step()
        objective.after_update()
    return objective


def test_multipliers_rise_where_a_constraint_is_broken_and_fall_to_zero_where_it_holds():
    matrix = torch.eye(K)
    matrix[0, 1] = 0.9  # teammate 0 does nearly as well with best response 1
    objective = train(matrix, 100)
    at = objective.multipliers.detach()
    assert (at[:, 0, 1] > 2.0).all()
    rest = torch.ones(2, K, K, dtype=torch.bool)
    rest[:, 0, 1] = False
    assert (at[rest] == 0).all()
    slopes = objective.slope(PAIRS)
    assert slopes[0, 1] < -0.5
    assert slopes[2, 3] == 0
    assert float(objective.scalars()["broken_constraints"]) == pytest.approx(2 / (2 * K * (K - 1)))


def test_a_pair_is_compared_with_both_teams_it_mixes():
    """C_01 is far below C_00, and above C_11 less the margin: only the second constraint presses."""
    matrix = torch.diag(torch.tensor([1.0, 0.4, 1.0, 1.0]))
    matrix[0, 1] = 0.2
    at = train(matrix, 100).multipliers.detach()
    assert at[0, 0, 1] == 0
    assert at[1, 0, 1] > 2.0


def test_multipliers_stop_at_the_largest():
    assert train(torch.ones(K, K), 100, largest_multiplier=1.5).scalars()["largest_multiplier"] == 1.5


def test_the_diagonal_has_no_multiplier():
    assert (train(torch.ones(K, K), 20).multipliers.diagonal(dim1=1, dim2=2) == 0).all()


def test_multipliers_learn_at_their_own_rate():
    module = TeammateGenerator(6, 5, LBRDiv(multiplier_learning_rate=0.5), n_types=K, hidden=[8], learning_rate=0.1)
    rates = {id(p): group["lr"] for group in module.configure_optimizers().param_groups for p in group["params"]}
    assert rates[id(module.objective.multipliers)] == 0.5


@pytest.mark.parametrize(
    "wrong", [{"margin": -1.0}, {"multiplier": -1.0}, {"largest_multiplier": 0.5}, {"memory": 0.0}]
)
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        LBRDiv(**wrong)
