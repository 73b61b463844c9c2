import os
import signal

import pytest
import torch
from brdiv.callbacks import Checkpoints
from brdiv.callbacks.signals import StopRequests

from brdiv.commands import main
from brdiv.training import TeammateGenerator
from tests.runs.killed_runs import UPDATE, assert_same_population, resume, whole_run
from tests.small_runs import train


def names(run):
    return sorted(path.name for path in (run / "checkpoints").iterdir())


def test_the_newest_are_kept_and_the_best_beside_them(tmp_path):
    options = ["--checkpoints.every", str(UPDATE), "--checkpoints.keep", "2", "--cross_play.every", str(2 * UPDATE)]
    run = train(tmp_path / "run", *options, "--cross_play.episodes", "4", steps=UPDATE * 5)
    assert names(run) == ["best.ckpt", "step_000000000512.ckpt", "step_000000000640.ckpt"]
    best = torch.load(run / "checkpoints" / "best.ckpt", weights_only=True)
    assert best["env_steps"] in {128, 256, 512}  # where there was a matrix


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_asked_to_stop_it_saves_itself_and_says_how_to_resume(signum, tmp_path, monkeypatch, capsys):
    whole = whole_run(tmp_path / "whole")
    step = TeammateGenerator.training_step

    def interrupted(self, rollout, batch_idx):
        if batch_idx == 2:
            os.kill(os.getpid(), signum)
        return step(self, rollout, batch_idx)

    with monkeypatch.context() as patch:
        patch.setattr(TeammateGenerator, "training_step", interrupted)
        with pytest.raises(SystemExit) as stop:
            whole_run(tmp_path / "run")
    assert stop.value.code == 128 + signum
    err = capsys.readouterr().err
    assert "resume with  brdiv fit --config" in err
    assert names(tmp_path / "run")[-1] == f"step_{3 * UPDATE:012}.ckpt"
    resume(tmp_path / "run")
    assert_same_population(whole, tmp_path / "run")


def test_a_signal_that_comes_just_before_the_run_listens_is_heard(tmp_path, monkeypatch, capsys):
    """Lightning listens to SIGTERM by then, and would end as if all was done."""
    listen = StopRequests.listen

    def late(self):
        os.kill(os.getpid(), signal.SIGTERM)
        listen(self)

    monkeypatch.setattr(StopRequests, "listen", late)
    with pytest.raises(SystemExit) as stop:
        whole_run(tmp_path / "run")
    assert stop.value.code == 128 + signal.SIGTERM
    assert "resume with  brdiv fit --config" in capsys.readouterr().err
    assert names(tmp_path / "run")[-1] == f"step_{UPDATE:012}.ckpt"


def test_a_signal_that_only_lightning_hears_is_no_success(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(StopRequests, "listen", lambda self: os.kill(os.getpid(), signal.SIGTERM))
    monkeypatch.setattr(StopRequests, "ask", lambda self, signum: None)
    with pytest.raises(SystemExit) as stop:
        whole_run(tmp_path / "run")
    assert stop.value.code == 128 + signal.SIGTERM
    assert "stopped by SIGTERM" in capsys.readouterr().err


def test_a_run_cut_short_by_the_trainer_can_be_resumed(tmp_path):
    whole = whole_run(tmp_path / "whole")
    options = ["--checkpoints.every", str(99 * UPDATE), "--trainer.max_steps", "3"]
    run = train(tmp_path / "run", *options, steps=UPDATE * 6)
    assert names(run) == ["best.ckpt", f"step_{3 * UPDATE:012}.ckpt"]
    config = str(run / "config.yaml")
    main(["fit", "--config", config, "--run", str(run), "--ckpt_path", "last", "--trainer.max_steps", "-1"])
    assert_same_population(whole, run)


def test_a_full_disk_is_told_in_one_line_and_leaves_earlier_checkpoints(tmp_path, monkeypatch, capsys):
    from lightning import Trainer

    save = Trainer.save_checkpoint
    calls = []

    def full(self, path, *args, **kwargs):
        calls.append(path)
        if len(calls) == 3:
            path.write_bytes(b"half a file")
            raise OSError(28, "No space left on device")
        return save(self, path, *args, **kwargs)

    monkeypatch.setattr(Trainer, "save_checkpoint", full)
    with pytest.raises(SystemExit) as stop:
        whole_run(tmp_path / "run")
    assert stop.value.code == 2
    assert "No space left on device; earlier ones are intact" in capsys.readouterr().err.splitlines()[-1]
    assert names(tmp_path / "run") == ["best.ckpt", "step_000000000256.ckpt"]


def test_a_disk_that_is_full_of_everything_is_told_in_one_line(tmp_path, monkeypatch, capsys):
    """Neither the checkpoint nor the population fits, and torch says so in words of its own."""

    def cut_short(*_, **__):
        raise RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 9664 vs 9558\nframe #0: c10")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lightning.Trainer.save_checkpoint", cut_short)
    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    with pytest.raises(SystemExit) as stop:
        whole_run(tmp_path / "run")
    assert stop.value.code == 2
    lines = capsys.readouterr().err.splitlines()
    said = [line for line in lines if "written" in line]
    assert len(said) == 1
    assert "could not be written: it was cut short; is the disk full?; earlier ones are intact" in said[0]
    assert "the population could not be written: No space left on device" in said[0]


def test_a_process_that_is_frozen_while_all_save_is_no_fault_of_the_disk(tmp_path, monkeypatch, capsys):
    from lightning import Trainer

    save = Trainer.save_checkpoint

    def late(self, path, *args, **kwargs):
        if path.name.startswith("step_") and list(tmp_path.glob("run/checkpoints/step_*.ckpt")):
            raise RuntimeError("[unbound_buffer.cc:78] gloo: Timed out waiting 30000ms for recv operation to complete")
        return save(self, path, *args, **kwargs)

    monkeypatch.setattr(Trainer, "save_checkpoint", late)
    for place in ("brdiv.callbacks.checkpoint", "brdiv.commands.line.training"):
        monkeypatch.setattr(f"{place}.another_process_is_gone", lambda error: "gloo" in str(error))
    with pytest.raises(SystemExit) as stop:
        whole_run(tmp_path / "run")
    assert stop.value.code == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert "another process of this run did not answer in time" in line
    assert "resume with  brdiv fit" in line
    assert "written" not in line


@pytest.mark.parametrize("wrong", [{"every": -1}, {"minutes": -1}, {"keep": 0}])
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Checkpoints(**wrong)


def test_checkpoints_by_the_clock(tmp_path):
    run = train(tmp_path / "run", "--checkpoints.every", "0", "--checkpoints.minutes", "0.00001",
                "--checkpoints.keep", "99", steps=UPDATE * 3)  # fmt: skip
    assert names(run) == ["best.ckpt", *(f"step_{k * UPDATE:012}.ckpt" for k in (1, 2, 3))]
    main(["show", str(run / "population.safetensors"), "--episodes", "0"])
