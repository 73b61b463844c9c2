"""A learner trained with products in bfloat16: its weights stay float32, and it resumes."""

import pytest
import torch

from brdiv.runs import load_learner
from tests.learners.small import UPDATE, learn
from tests.learners.test_killed import assert_same_learner

MIXED = ("--trainer.precision", "bf16-mixed")


@pytest.mark.parametrize("config", ["learners/ppo", "learners/liam"])
def test_bfloat16_is_really_used_and_everything_learns(config, tmp_path):
    full = load_learner(learn(tmp_path / "full", config=config)).net.state_dict()
    mixed = load_learner(learn(tmp_path / "mixed", *MIXED, config=config)).net.state_dict()
    assert any(not weight.equal(mixed[name]) for name, weight in full.items())
    for name, weight in mixed.items():
        assert weight.dtype == torch.float32
        assert weight.isfinite().all()
        assert "bias" not in name or weight.any(), "biases begin at zero: these have learned nothing"


def test_a_run_with_bfloat16_resumes_bit_for_bit(tmp_path):
    options = [*MIXED, "--checkpoints.every", str(UPDATE), "--checkpoints.keep", "99"]
    whole, again = learn(tmp_path / "whole", *options), learn(tmp_path / "again", *options)
    (again / "learner.safetensors").unlink()
    for path in (again / "checkpoints").glob("step_*.ckpt"):
        if int(path.stem.removeprefix("step_")) > 2 * UPDATE:
            path.unlink()
    learn(again, *options, "--ckpt_path", "auto")
    assert_same_learner(whole, again)
