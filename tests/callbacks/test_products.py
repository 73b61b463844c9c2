import pytest
import torch

from brdiv.runs import RunFolder
from brdiv.training.products import available
from tests.small_runs import train

STATE = "MatrixProducts"
both_ways = pytest.mark.skipif(len(available()) == 1, reason="this build of torch multiplies in one way only")


def chosen_in(run):
    (path,) = list(RunFolder(run).numbered_checkpoints().values())[-1:]
    return torch.load(path, weights_only=True)["callbacks"][STATE]["chosen"]


def precision():
    return torch.backends.mkldnn.matmul.fp32_precision


def test_a_run_says_how_it_multiplies_and_writes_it_down(tmp_path, capsys):
    run = train(tmp_path / "run")
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "matrices are multiplied by" in line]
    name = {"blas": "BLAS", "onednn": "oneDNN"}[chosen_in(run)]
    assert f"multiplied by {name}:" in line


@both_ways
@pytest.mark.parametrize("way", ["blas", "onednn"])
def test_a_resumed_run_multiplies_as_before_without_measuring(way, tmp_path, capsys, monkeypatch):
    run = train(tmp_path / "run", "--products.by", way)
    seen = []
    monkeypatch.setattr("brdiv.callbacks.products.measure", lambda *_: pytest.fail("measured again"))
    monkeypatch.setattr("brdiv.training.module.TeammateGenerator.check_numbers", lambda self: seen.append(precision()))
    train(run, "--ckpt_path", "last", steps=128 * 16)
    assert set(seen) == {{"blas": "ieee", "onednn": "bf16"}[way]}
    assert chosen_in(run) == way
    assert "multiplied" not in capsys.readouterr().err


@both_ways
def test_what_the_user_names_wins_over_the_checkpoint_and_nothing_stays_set(tmp_path):
    before = precision()
    run = train(tmp_path / "run", "--products.by", "blas")
    train(run, "--ckpt_path", "last", "--products.by", "onednn", steps=128 * 16)
    assert chosen_in(run) == "onednn"
    assert precision() == before


def test_what_torch_does_not_have_is_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("brdiv.callbacks.products.available", lambda: ["blas"])
    with pytest.raises(SystemExit):
        train(tmp_path / "run", "--products.by", "onednn")
    assert "products.by is onednn: this build of torch has only blas" in capsys.readouterr().err
