import pytest
import torch

from brdiv.metrics import best_response_diversity, brdiv_slope, mean_diagonal, mean_off_diagonal


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
