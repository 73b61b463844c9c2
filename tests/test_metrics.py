import pytest
import torch

from brdiv.metrics import (
    best_response_diversity,
    brdiv_slope,
    interchangeable_groups,
    mean_diagonal,
    mean_off_diagonal,
)


def printed_brdiv(c):
    """Eq. 6, term by term as the paper prints it."""
    k = len(c)
    total = sum(c[i, i] for i in range(k))
    total += sum(c[i, i] - c[i, j] for i in range(k) for j in range(k) if i != j)
    total += sum(c[i, i] - c[j, i] for i in range(k) for j in range(k) if i != j)
    return total


@pytest.mark.parametrize("n_types", [2, 3, 6])
def test_brdiv_is_the_printed_equation(n_types, generator):
    c = torch.rand(n_types, n_types, generator=generator, dtype=torch.float64)
    assert torch.isclose(best_response_diversity(c), printed_brdiv(c))


def test_brdiv_of_a_batch_is_each_matrix_own(generator):
    c = torch.rand(7, 4, 4, generator=generator)
    assert torch.allclose(best_response_diversity(c), torch.stack([printed_brdiv(m) for m in c]))


@pytest.mark.parametrize("n_types", [2, 4, 8])
def test_the_slope_is_the_derivative_of_the_printed_equation(n_types, generator):
    c = torch.rand(n_types, n_types, generator=generator, requires_grad=True)
    (gradient,) = torch.autograd.grad(printed_brdiv(c), c)
    i, j = torch.meshgrid(torch.arange(n_types), torch.arange(n_types), indexing="ij")
    assert torch.equal(brdiv_slope(i, j, n_types), gradient)


def test_means_of_the_diagonal_and_the_rest():
    c = torch.tensor([[1.0, 0.2], [0.4, 0.5]])
    assert mean_diagonal(c) == pytest.approx(0.75)
    assert mean_off_diagonal(c) == pytest.approx(0.3)


def test_teams_that_can_stand_in_for_each_other_form_a_group():
    matrix = torch.eye(5)
    assert interchangeable_groups(matrix) == [[0], [1], [2], [3], [4]]
    matrix[0, 3] = matrix[3, 0] = 0.95
    assert interchangeable_groups(matrix) == [[0, 3], [1], [2], [4]]
    matrix[3, 4] = matrix[4, 3] = 0.9
    assert interchangeable_groups(matrix) == [[0, 3, 4], [1], [2]]


def test_one_direction_is_not_enough_to_be_interchangeable():
    matrix = torch.tensor([[1.0, 1.0], [0.0, 1.0]])
    assert interchangeable_groups(matrix) == [[0], [1]]


def test_a_poor_team_is_not_interchangeable_with_a_rich_one():
    matrix = torch.tensor([[1.0, 0.75], [0.75, 0.75]])
    assert interchangeable_groups(matrix) == [[0], [1]]


def test_a_team_that_has_hardly_learned_the_game_is_in_no_group():
    assert interchangeable_groups(torch.diag(torch.tensor([1.0, 0.0, 1.0]))) == [[0], [2]]
    assert interchangeable_groups(torch.diag(torch.tensor([1.0, 0.004, 0.75]))) == [[0], [2]]
    assert interchangeable_groups(torch.zeros(3, 3)) == []
