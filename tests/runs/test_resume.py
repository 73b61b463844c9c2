"""A run that resumes from a checkpoint ends where it would have ended had it never stopped."""

import csv
import shutil

import pytest
import torch
from brdiv.configs import shipped_configs
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from brdiv.commands import main
from brdiv.runs import RunFolder
from brdiv.runs.unpack import unpack
from brdiv.training import TeammateGenerator
from tests.runs.killed_runs import (
    UPDATE,
    assert_same_population,
    killed_after,
    resume,
    whole_run,
)

METHODS = ["brdiv", *sorted(path.stem for path in shipped_configs().values() if path.parent.name == "methods")]
GAMES = ["reaching", "lbf", "cooking"]


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_trains_on_every_game_and_resumes(method, game, tmp_path):
    overlay = [] if method == "brdiv" else ["--config", f"methods/{method}"]
    # Untrained teams play to the time limit, and measuring them at the end is most of such a short run.
    short = ["--cross_play.final_episodes", "1", "--data.game.horizon", "20"]
    short += ["--data.cross_play_rows", "4", "--data.mixed_play_rows", "4"]
    run = whole_run(tmp_path / "whole", *overlay, *short, config=game)
    again = killed_after(run, 2 * UPDATE, tmp_path / "killed")
    resume(again)
    assert_same_population(run, again)
    last = sorted((run / "checkpoints").glob("step_*"))[-1].name
    ours, theirs = (torch.load(r / "checkpoints" / last, weights_only=True) for r in (run, again))
    for name, value in ours["state_dict"].items():  # objective, critic and target critic too
        assert torch.equal(value, theirs["state_dict"][name]), name


def logged(run):
    events = EventAccumulator(str(run)).Reload()
    return {tag: [(e.step, e.value) for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def test_logs_have_every_step_once(tmp_path):
    options = ["--cross_play.every", str(UPDATE), "--cross_play.episodes", "2"]
    run = whole_run(tmp_path / "whole", *options)
    again = killed_after(run, 4 * UPDATE, tmp_path / "killed")
    resume(again)
    rows = [[tuple(row) for row in csv.reader((r / "cross_play.csv").open())] for r in (run, again)]
    assert rows[0] == rows[1]
    ours, theirs = logged(run), logged(again)
    assert ours.keys() == theirs.keys()
    for tag, values in ours.items():
        if not tag.startswith("throughput"):
            assert theirs[tag] == values, tag
        assert [step for step, _ in theirs[tag]] == [step for step, _ in values], tag
    assert len(ours["loss/actor"]) == 6


def test_a_checkpoint_is_read_once(finished_run, tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr("brdiv.runs.resume.unpack", lambda path: read.append(path) or unpack(path))
    run = killed_after(finished_run, 2 * UPDATE, tmp_path / "killed")
    resume(run)
    assert read == [run / "checkpoints" / "step_000000000256.ckpt"]


def test_what_the_owner_before_wrote_last_is_what_counts(finished_run, tmp_path, monkeypatch):
    """A second resume that comes just as the first one ends goes on from where that was."""
    run = killed_after(finished_run, 2 * UPDATE, tmp_path / "killed")
    lock = RunFolder.lock

    def wait_for_the_owner(folder):
        shutil.copy(finished_run / "checkpoints" / "step_000000000512.ckpt", folder.checkpoints)
        lock(folder)

    monkeypatch.setattr(RunFolder, "lock", wait_for_the_owner)
    with pytest.raises(SystemExit):
        resume(run)  # which was the last there is to do
    assert not (run / "population.safetensors").exists()


def test_a_run_that_ends_before_its_last_picture_is_drawn_can_still_be_finished(tmp_path, monkeypatch):
    options = ["--cross_play.every", str(3 * UPDATE), "--cross_play.episodes", "2"]
    run = whole_run(tmp_path / "whole", *options)

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("brdiv.callbacks.cross_play.print_cross_play", killed)
        with pytest.raises((KeyboardInterrupt, SystemExit)):
            whole_run(tmp_path / "killed", *options)
    resume(tmp_path / "killed")
    assert_same_population(run, tmp_path / "killed")
    assert (tmp_path / "killed" / "cross_play.csv").read_text() == (run / "cross_play.csv").read_text()
    names = [sorted(path.name for path in (r / "checkpoints").iterdir()) for r in (run, tmp_path / "killed")]
    assert names[0] == names[1]


def test_a_run_without_a_folder_name_is_found_by_what_it_trains(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small = ["--config", "reaching", "--data.steps", str(1280 * 3), "--checkpoints.every", "1280"]
    small += ["--cross_play.final_episodes", "1", "--checkpoints.keep", "9"]
    main(["fit", *small])
    run = tmp_path / "runs" / "reaching-brdiv-seed0"
    first = (run / "population.safetensors").read_bytes()
    (run / "checkpoints" / "step_000000003840.ckpt").unlink()
    main(["fit", *small, "--ckpt_path", "last"])
    assert (run / "population.safetensors").read_bytes() == first
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["reaching-brdiv-seed0"]


def test_whatever_ends_a_run_it_says_how_to_resume(tmp_path, monkeypatch):
    step = TeammateGenerator.training_step

    def broken(self, rollout, batch_idx):
        if batch_idx == 3:
            raise ZeroDivisionError("a mistake of somebody's own")
        return step(self, rollout, batch_idx)

    monkeypatch.setattr(TeammateGenerator, "training_step", broken)
    with pytest.raises(ZeroDivisionError) as caught:
        whole_run(tmp_path / "run")
    (note,) = caught.value.__notes__
    assert "step_000000000256.ckpt: resume with  brdiv fit" in note
