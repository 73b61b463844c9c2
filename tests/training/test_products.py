import pytest
import torch

from brdiv.nets import Critic, Population
from brdiv.training import products
from brdiv.training.products import Measured, available, error_of, fastest, measure, multiplied


def test_the_fastest_exact_way_is_taken():
    assert fastest({"blas": Measured(5e-7, 0.010), "onednn": Measured(6e-7, 0.005)}) == "onednn"


def test_a_way_that_drops_digits_is_never_taken():
    assert fastest({"blas": Measured(5e-7, 0.010), "onednn": Measured(3e-3, 0.001)}) == "blas"


def test_a_small_gain_does_not_decide():
    """Two runs of one seed would differ if chance chose between them."""
    assert fastest({"blas": Measured(5e-7, 0.0100), "onednn": Measured(5e-7, 0.0095)}) == "blas"


def test_without_another_way_there_is_nothing_to_choose(monkeypatch):
    monkeypatch.setattr(products, "available", lambda: ["blas"])
    measured = measure(Population(2, 8, 3, [16]), Critic(2, 8, [16]), rows=4, window=2)
    assert list(measured) == ["blas"]
    assert fastest(measured) == "blas"


def test_errors_tell_full_precision_from_less(monkeypatch):
    generator = torch.Generator().manual_seed(0)
    a, b = torch.randn(2, 64, 64, generator=generator), torch.randn(2, 64, 64, generator=generator)
    with multiplied("blas"):
        assert 0 < error_of(a, b) < 1e-5
    product = torch.bmm
    monkeypatch.setattr(torch, "bmm", lambda a, b: product(a.bfloat16().float(), b.bfloat16().float()))
    assert error_of(a, b) > 1e-3


@pytest.mark.skipif(len(available()) == 1, reason="this build of torch multiplies in one way only")
def test_torch_is_left_as_it_was():
    before = torch.backends.mkldnn.matmul.fp32_precision
    with multiplied("onednn"):
        assert torch.backends.mkldnn.matmul.fp32_precision == "bf16"
    assert torch.backends.mkldnn.matmul.fp32_precision == before


def test_measuring_draws_no_random_numbers_and_leaves_no_gradients():
    population, critic = Population(2, 8, 3, [16]), Critic(2, 8, [16])
    before = torch.get_rng_state()
    measured = measure(population, critic, rows=16, window=4)
    assert set(measured) == set(available())
    assert all(m.seconds > 0 and m.error < 1 for m in measured.values())
    assert torch.equal(torch.get_rng_state(), before)
    assert all(parameter.grad is None for parameter in [*population.parameters(), *critic.parameters()])
