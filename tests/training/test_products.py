import pytest
import torch

from brdiv.nets import Critic, Population
from brdiv.rollouts import RolloutCollector
from brdiv.runs import RunFolder
from brdiv.training import TeammateGenerator, products
from brdiv.training.products import Measured, available, error_of, fastest, measure, multiplied
from tests.small_runs import train

both_ways = pytest.mark.skipif(len(available()) == 1, reason="this build of torch multiplies in one way only")


def test_the_fastest_exact_way_is_taken():
    assert fastest({"blas": Measured(5e-7, 0.010, 2e-4), "onednn": Measured(6e-7, 0.005, 1e-4)}) == "onednn"


def test_a_way_that_is_fast_only_to_learn_is_not_used_to_play():
    assert fastest({"blas": Measured(5e-7, 0.010, 1e-4), "onednn": Measured(6e-7, 0.005, 9e-5)}) == "both"


def test_a_way_that_is_fast_only_to_play_is_not_taken():
    assert fastest({"blas": Measured(5e-7, 0.010, 3e-4), "onednn": Measured(6e-7, 0.010, 1e-4)}) == "blas"


def test_a_way_that_drops_digits_is_never_taken():
    assert fastest({"blas": Measured(5e-7, 0.010, 2e-4), "onednn": Measured(3e-3, 0.001, 1e-5)}) == "blas"


def test_a_small_gain_does_not_decide():
    """Two runs of one seed would differ if chance chose between them."""
    assert fastest({"blas": Measured(5e-7, 0.0100, 2e-4), "onednn": Measured(5e-7, 0.0075, 1e-4)}) == "blas"


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


@both_ways
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
    assert all(m.seconds > 0 and m.play_seconds > 0 and m.error < 1 for m in measured.values())
    assert torch.equal(torch.get_rng_state(), before)
    assert all(parameter.grad is None for parameter in [*population.parameters(), *critic.parameters()])


def chosen_in(run):
    (path,) = list(RunFolder(run).numbered_checkpoints().values())[-1:]
    return torch.load(path, weights_only=True)["products"]


def precision():
    return torch.backends.mkldnn.matmul.fp32_precision


def test_a_run_says_how_it_multiplies_and_writes_it_down(tmp_path, capsys):
    run = train(tmp_path / "run")
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "matrices are multiplied by" in line]
    name = {"blas": "BLAS", "onednn": "oneDNN", "both": "oneDNN, in play by BLAS"}[chosen_in(run)]
    assert f"multiplied by {name}:" in line


@both_ways
@pytest.mark.parametrize("way", ["blas", "onednn", "both"])
def test_a_resumed_run_multiplies_as_before_without_measuring(way, tmp_path, capsys, monkeypatch):
    run = train(tmp_path / "run", "--model.products", way)
    seen = []
    monkeypatch.setattr("brdiv.training.module.measure", lambda *_: pytest.fail("measured again"))
    monkeypatch.setattr("brdiv.training.module.TeammateGenerator.check_numbers", lambda self: seen.append(precision()))
    train(run, "--ckpt_path", "last", steps=128 * 16)
    assert set(seen) == {"ieee" if way == "blas" else "bf16"}
    assert chosen_in(run) == way
    assert "multiplied" not in capsys.readouterr().err


@both_ways
def test_a_run_can_play_by_one_library_and_learn_by_the_other(tmp_path, monkeypatch):
    seen = {"play": set(), "learning": set()}
    play, losses = RolloutCollector.play, TeammateGenerator.losses
    monkeypatch.setattr(RolloutCollector, "play", lambda self: [seen["play"].add(precision()), play(self)][1])
    monkeypatch.setattr(
        TeammateGenerator, "losses", lambda self, *args: [seen["learning"].add(precision()), losses(self, *args)][1]
    )
    train(tmp_path / "run", "--model.products", "both")
    assert seen == {"play": {"ieee"}, "learning": {"bf16"}}


@both_ways
def test_what_the_user_names_wins_over_the_checkpoint_and_nothing_stays_set(tmp_path):
    before = precision()
    run = train(tmp_path / "run", "--model.products", "blas")
    train(run, "--ckpt_path", "last", "--model.products", "onednn", steps=128 * 16)
    assert chosen_in(run) == "onednn"
    assert precision() == before


def test_what_torch_does_not_have_is_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("brdiv.training.products.available", lambda: ["blas"])
    for use in ("onednn", "both"):
        with pytest.raises(SystemExit):
            train(tmp_path / "run", "--model.products", use)
        assert f"products is {use}: this build of torch has only blas" in capsys.readouterr().err


def test_an_unknown_library_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        train(tmp_path / "run", "--model.products", "magma")
    assert "products is magma: it must be auto, blas, onednn or both" in capsys.readouterr().err
