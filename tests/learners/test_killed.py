"""A learner whose process is killed, at any moment, and `--ckpt_path auto`, which finds out what a run needs."""

import os
import re
import signal

import pytest
import torch
from safetensors.torch import load_file

from brdiv.commands import main
from brdiv.learners import LearnerModule
from brdiv.runs import about_learner
from tests.learners.small import UPDATE, learn
from tests.processes import forked, kill_when

AUTO = ["--ckpt_path", "auto"]


def assert_same_learner(ours, theirs):
    ours, theirs = (load_file(run / "learner.safetensors") for run in (ours, theirs))
    assert ours.keys() == theirs.keys()
    for name, weights in ours.items():
        assert torch.equal(weights, theirs[name]), name


@pytest.mark.parametrize("config", ["learners/ppo", "learners/liam"])
def test_a_learner_that_is_killed_goes_on_bit_for_bit(config, tmp_path, capsys):
    steps, options = 60 * UPDATE, ["--checkpoints.every", str(5 * UPDATE)]
    how = {"teammates": ("heuristics", "random"), "game": "LBF", "config": config, "steps": steps}
    whole = learn(tmp_path / "whole", *options, **how)
    run = tmp_path / "killed"

    def begin():
        learn(run, *options, *AUTO, **how)

    kill_when(forked(begin), lambda: list(run.glob("checkpoints/step_*.ckpt")))
    assert not (run / "learner.safetensors").exists()
    learn(run, *options, *AUTO, **how)
    assert about_learner(run)["finished"]
    assert_same_learner(whole, run)


def test_a_run_that_is_done_is_left_alone(tmp_path, capsys):
    run = learn(tmp_path / "run", *AUTO)
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*")}
    capsys.readouterr()
    learn(run, *AUTO)
    assert capsys.readouterr().out == f"{run} is done, {4 * UPDATE} steps\n"
    assert {path: path.stat().st_mtime_ns for path in run.rglob("*")} == before


def test_a_run_that_was_killed_before_its_only_checkpoint_counted_is_not_done(tmp_path, capsys):
    run = learn(tmp_path / "run")
    (only,) = (run / "checkpoints").iterdir()
    only.rename(only.with_suffix(".part"))
    (run / ".lock").touch()
    learn(run, *AUTO)
    assert "is done" not in capsys.readouterr().out
    assert [path.name for path in (run / "checkpoints").iterdir()] == [only.name]


def test_a_run_that_is_done_stays_so_however_it_is_watched(tmp_path, capsys):
    run = learn(tmp_path / "run", *AUTO)
    capsys.readouterr()
    learn(run, *AUTO, "--checkpoints.minutes", "3", "--progress.seconds", "7")
    assert capsys.readouterr().out == f"{run} is done, {4 * UPDATE} steps\n"


def test_a_run_that_was_killed_before_its_first_checkpoint_begins_anew(tmp_path):
    whole = learn(tmp_path / "whole")
    run = tmp_path / "killed"
    (run / "checkpoints").mkdir(parents=True)
    for name in (".lock", "config.yaml", "events.out.tfevents.1.host.2.0", "checkpoints/.step_000000000048.ckpt.part"):
        (run / name).write_text("half")
    learn(run, *AUTO)
    assert_same_learner(whole, run)
    assert "half" not in (run / "config.yaml").read_text()
    assert not (run / "events.out.tfevents.1.host.2.0").exists()


def test_a_run_that_was_killed_in_its_first_update_begins_anew(tmp_path, monkeypatch):
    whole = learn(tmp_path / "whole")
    run = tmp_path / "killed"

    def begin():
        monkeypatch.setattr(LearnerModule, "training_step", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        learn(run, *AUTO)

    process = forked(begin)
    process.join(100)
    assert process.exitcode == -signal.SIGKILL
    assert (run / "config.yaml").exists()
    learn(run, *AUTO)
    assert_same_learner(whole, run)


def test_a_killed_run_that_is_reached_by_a_link_begins_anew(tmp_path):
    whole = learn(tmp_path / "whole")
    run = tmp_path / "run"
    run.mkdir()
    for name in (".lock", "config.yaml"):
        (run / name).write_text("half")
    (tmp_path / "link").symlink_to(run)
    learn(tmp_path / "link", *AUTO)
    assert_same_learner(whole, run)


def test_a_folder_of_no_run_is_left_alone(tmp_path, capsys):
    mine = tmp_path / "mine"
    for name in (".git", "checkpoints"):
        (mine / name).mkdir(parents=True)
    (mine / "config.yaml").write_text("mine: 1")
    with pytest.raises(SystemExit):
        learn(mine, *AUTO)
    assert "mine exists and is not empty" in capsys.readouterr().err
    assert sorted(path.name for path in mine.iterdir()) == [".git", "checkpoints", "config.yaml"]
    (mine / ".lock").touch()
    with pytest.raises(SystemExit):
        learn(mine, *AUTO)
    assert "holds .git; choose another --run" in capsys.readouterr().err
    assert sorted(path.name for path in mine.iterdir()) == [".git", ".lock", "checkpoints", "config.yaml"]


def test_a_learner_that_can_not_be_read_is_left_alone(tmp_path, capsys):
    run = learn(tmp_path / "run")
    for checkpoint in run.glob("checkpoints/*"):
        checkpoint.unlink()
    damaged = (run / "learner.safetensors").read_bytes()[:-1]
    (run / "learner.safetensors").write_bytes(damaged)
    with pytest.raises(SystemExit):
        learn(run, *AUTO)
    assert "learner.safetensors" in capsys.readouterr().err
    assert (run / "learner.safetensors").read_bytes() == damaged


@pytest.mark.parametrize(
    ("given", "changed"),
    [
        ({"teammates": ("H4,H1",)}, r"teammates was \['H1,H4'\] and is \['H4,H1'\]"),
        ({"steps": 8 * UPDATE}, f"data.steps was {4 * UPDATE} and is {8 * UPDATE}"),
        ({"config": "learners/liam"}, "model.method.class_path was .*PPO and is .*LIAM"),
    ],
)
def test_a_run_that_was_trained_otherwise_is_not_called_done(given, changed, tmp_path, capsys):
    run = learn(tmp_path / "run")
    with pytest.raises(SystemExit):
        learn(run, *AUTO, **given)
    assert re.search(f"is done, and was trained otherwise .*{changed}", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("run", "told"), [(["--run", "mine"], "mine exists and is not empty"), ([], "say with --run which folder to begin")]
)
def test_a_folder_with_anything_else_is_left_alone(run, told, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("years of work")
    with pytest.raises(SystemExit):
        main(["learn", "--config", "learners/ppo", "--teammates", "H1", "--data.game", "Reaching", *AUTO, *run])
    assert told in capsys.readouterr().err
    assert (tmp_path / "mine/thesis.txt").read_text() == "years of work"
