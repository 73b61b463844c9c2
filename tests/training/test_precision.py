"""Number formats: bfloat16 products with float32 weights train as the rest does; all others are refused."""

import pytest
import torch

from brdiv import load_population
from brdiv.commands import main
from tests.small_runs import train

MIXED = ("--trainer.precision", "bf16-mixed")


def weights(run):
    return load_population(run).population.state_dict()


@pytest.mark.parametrize("method", ["anyplay", "independent", "lbrdiv", "lipo", "trajedi05"])
def test_every_method_learns_with_bfloat16_products(method, tmp_path):
    learned = weights(train(tmp_path / "run", "--config", f"methods/{method}", *MIXED, steps=128 * 4))
    for name, weight in learned.items():
        assert weight.dtype == torch.float32
        assert weight.isfinite().all()
        assert "bias" not in name or weight.any(), "biases begin at zero: these have learned nothing"


def test_bfloat16_is_really_used(tmp_path):
    full = weights(train(tmp_path / "full", steps=128 * 4))
    mixed = weights(train(tmp_path / "mixed", *MIXED, steps=128 * 4))
    assert any(not weight.equal(mixed[name]) for name, weight in full.items())


@pytest.mark.parametrize("began_with", ["bf16-mixed", "32-true"])
def test_a_run_resumes_with_bfloat16(began_with, tmp_path):
    every = ["--checkpoints.every", "256", "--checkpoints.keep", "10"]
    run = train(tmp_path / "run", "--trainer.precision", began_with, *every, steps=128 * 6)
    first = weights(run)
    halfway = sorted(run.glob("checkpoints/step_*.ckpt"))[0]
    main(["fit", "--config", str(run / "config.yaml"), "--ckpt_path", str(halfway), *MIXED])
    assert load_population(run).about["steps"] == 128 * 6
    same = all(weight.equal(first[name]) for name, weight in weights(run).items())
    assert same == (began_with == "bf16-mixed"), "what began in float32 goes on in bfloat16"


@pytest.mark.parametrize(
    "precision",
    ["16-mixed", "16", "bf16-true", "16-true", "64-true", "transformer-engine", "nonsense", "17"],
)
def test_other_formats_are_refused_before_anything_is_built(precision, tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["fit", "--config", "reaching", "--trainer.precision", precision, "--run", str(tmp_path / "run")])
    assert stop.value.code == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith(f"brdiv: error: trainer.precision is {precision}: training knows 32-true and bf16-mixed.")
    assert not (tmp_path / "run").exists()
