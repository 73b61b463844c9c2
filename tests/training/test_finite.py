"""Numbers that are not finite stop a run before anything that came of them is kept."""

import pytest
import torch

from brdiv.training import TeammateGenerator
from tests.runs.killed_runs import UPDATE, whole_run


def test_a_loss_that_is_no_number_stops_the_run_and_keeps_the_last_good_checkpoint(tmp_path, monkeypatch, capsys):
    losses = TeammateGenerator.losses

    def broken(self, rollout, entropy_weight):
        found = losses(self, rollout, entropy_weight)
        if self.env_steps >= 4 * UPDATE:
            found["critic"] = found["critic"] * float("nan")
        return found

    monkeypatch.setattr(TeammateGenerator, "losses", broken)
    with pytest.raises(SystemExit) as stop:
        whole_run(tmp_path / "run")
    assert stop.value.code == 2
    line = capsys.readouterr().err.strip().splitlines()[-1]
    assert "after 512 steps the loss of critic is nan" in line
    assert sorted(path.name for path in (tmp_path / "run" / "checkpoints").iterdir())[-1] == "step_000000000512.ckpt"


def infinite_slope(weight):
    """0, with an infinite gradient in one weight."""
    return (weight[0, 0, 0] - weight[0, 0, 0].detach()).sqrt()


def test_infinite_gradients_stop_the_run_though_clipping_would_hide_them(tmp_path, monkeypatch, capsys):
    step = TeammateGenerator.training_step

    def poisoned(self, rollout, batch_idx):
        loss = step(self, rollout, batch_idx)
        if batch_idx == 3:
            loss = loss + infinite_slope(self.population.layers[0].weight)
        return loss

    monkeypatch.setattr(TeammateGenerator, "training_step", poisoned)
    with pytest.raises(SystemExit) as stop:
        whole_run(tmp_path / "run")
    assert stop.value.code == 2
    line = capsys.readouterr().err.strip().splitlines()[-1]
    assert "the gradient of population.layers.0.weight is not finite" in line
    assert f"last good checkpoint is {tmp_path}/run/checkpoints/step_000000000256.ckpt: resume with  brdiv fit" in line


@pytest.mark.parametrize("logged_every", ["6", "1000"], ids=["read with the logs", "read before a checkpoint"])
def test_where_numbers_are_read_late_an_infinite_gradient_stops_the_run(logged_every, tmp_path, monkeypatch, capsys):
    step = TeammateGenerator.training_step

    def poisoned(self, rollout, batch_idx):
        loss = step(self, rollout, batch_idx)
        return loss + infinite_slope(self.population.layers[0].weight) if batch_idx == 4 else loss

    monkeypatch.setattr(TeammateGenerator, "training_step", poisoned)
    monkeypatch.setattr(TeammateGenerator, "reads_at_once", lambda self: False)  # as off the CPU
    with pytest.raises(SystemExit) as stop:
        whole_run(tmp_path / "run", "--trainer.log_every_n_steps", logged_every, updates=12)
    assert stop.value.code == 2
    assert "a loss or a gradient was not finite" in capsys.readouterr().err.strip().splitlines()[-1]
    # The one of step 512 was written before, nothing was after.
    assert sorted(path.name for path in (tmp_path / "run" / "checkpoints").iterdir())[-1] == "step_000000000512.ckpt"
    assert not (tmp_path / "run" / "population.safetensors").exists()


def test_weights_that_are_no_numbers_are_not_saved(tmp_path, monkeypatch, capsys):
    step = TeammateGenerator.optimizer_step

    def poisoned(self, *args, **kwargs):
        step(self, *args, **kwargs)
        if self.env_steps == 4 * UPDATE:
            with torch.no_grad():
                self.population.layers[0].weight[0, 0, 0] = float("inf")

    monkeypatch.setattr(TeammateGenerator, "optimizer_step", poisoned)
    with pytest.raises(SystemExit) as stop:
        whole_run(tmp_path / "run")
    assert stop.value.code == 2
    assert "weights population.layers.0.weight are not finite" in capsys.readouterr().err
    names = sorted(path.name for path in (tmp_path / "run" / "checkpoints").iterdir())
    assert names == ["best.ckpt", "step_000000000256.ckpt"]
