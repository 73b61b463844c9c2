"""A run that resumes from a checkpoint ends where it would have ended had it never stopped."""

import csv
import shutil

import pytest
import torch
from brdiv.configs import shipped_configs
from safetensors.torch import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from brdiv.commands import main
from brdiv.games import Reaching
from brdiv.nets import Population
from brdiv.rollouts import Pairing, collect
from brdiv.runs import RunFolder, load_population
from brdiv.runs.unpack import unpack
from brdiv.training import TeammateGenerator
from tests.runs.killed_runs import (
    UPDATE,
    assert_same_population,
    killed_after,
    resume,
    whole_run,
    with_other_rank,
)
from tests.small_runs import train

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


def complaint(capsys, *arguments):
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        main(["fit", "--config", "reaching", *arguments])
    assert stop.value.code == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    return line


def test_a_finished_run_has_nothing_to_resume(tmp_path, capsys):
    run = whole_run(tmp_path / "whole", updates=2)
    capsys.readouterr()
    with pytest.raises(SystemExit):
        resume(run)
    assert "the run is over, 256 of 256 steps" in capsys.readouterr().err


def test_missing_checkpoints_are_named(tmp_path, capsys):
    assert "no checkpoint file nowhere.ckpt" in complaint(capsys, "--ckpt_path", "nowhere.ckpt")
    assert "no run folder" in complaint(capsys, "--ckpt_path", "last", "--run", str(tmp_path / "none"))
    assert "holds no checkpoint" in complaint(capsys, "--ckpt_path", "last", "--run", str(tmp_path))


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


def left_by_a_gpu(rank):
    """What a GPU's generators would have left: their states have 16 bytes."""
    rank["device"] = "cuda"
    rank["actions"] = rank["play"]["draws"]["generator"] = torch.zeros(16, dtype=torch.uint8)


def test_a_checkpoint_of_another_game_is_refused(tmp_path, capsys):
    whole_run(tmp_path / "lbf", updates=2, config="lbf")
    path = tmp_path / "lbf" / "checkpoints" / "step_000000000256.ckpt"
    line = complaint(capsys, "--ckpt_path", str(path), "--data.steps", "99999", "--model.hidden", "[16]")
    assert "does not fit" in line


def test_yaml_is_loaded_without_running_code(tmp_path, capsys):
    (tmp_path / "bomb.yaml").write_text("seed_everything: !!python/object/apply:os._exit [3]\n")
    assert "brdiv: error" in complaint(capsys, "--config", str(tmp_path / "bomb.yaml"))


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


def test_going_back_sets_later_checkpoints_aside(tmp_path):
    run = whole_run(tmp_path / "run")
    early = run / "checkpoints" / "step_000000000256.ckpt"
    config = str(run / "config.yaml")
    main(["fit", "--config", config, "--run", str(run), "--ckpt_path", str(early), "--data.steps", str(UPDATE * 4)])
    names = sorted(path.name for path in (run / "checkpoints").iterdir())
    assert names == [
        "best.ckpt",
        "step_000000000256.ckpt",
        "step_000000000512.abandoned",
        "step_000000000512.ckpt",
        "step_000000000768.abandoned",
    ]


def test_a_run_resumes_at_the_learning_rate_it_is_given(tmp_path):
    run = whole_run(tmp_path / "run")
    again = killed_after(run, 2 * UPDATE, tmp_path / "again")
    config = str(again / "config.yaml")
    before = (again / "config.yaml").read_text()
    main(["fit", "--config", config, "--run", str(again), "--ckpt_path", "last", "--model.learning_rate", "1e-5"])
    last = torch.load(sorted((again / "checkpoints").glob("step_*.ckpt"))[-1], weights_only=True)
    assert {group["lr"] for group in last["optimizer_states"][0]["param_groups"]} == {1e-5}
    # The first config still repeats the run from its first step; what it went on with is kept beside it.
    assert (again / "config.yaml").read_text() == before
    assert "learning_rate: 1.0e-05" in (again / "config_from_256.yaml").read_text()


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (["--data.self_play_rows", "9"], "16 rows per process there and 17 here"),
        (["--data.window", "4"], "8 steps per window"),
    ],
)
def test_other_rows_or_windows_are_refused(changed, told, finished_run, capsys):
    early = str(finished_run / "checkpoints" / "step_000000000256.ckpt")
    with pytest.raises(SystemExit) as stop:
        main(["fit", "--config", str(finished_run / "config.yaml"), "--ckpt_path", early, *changed])
    assert stop.value.code == 2
    assert told in capsys.readouterr().err


def test_a_checkpoint_resumes_in_its_own_folder_alone(finished_run, tmp_path, capsys):
    early = str(finished_run / "checkpoints" / "step_000000000256.ckpt")
    assert "belongs to the run in" in complaint(capsys, "--ckpt_path", early, "--run", str(tmp_path))


def test_a_finished_run_can_be_extended(finished_run, tmp_path):
    """Steps really are trained: the count, the weights and the last checkpoint all say so."""
    run = tmp_path / "run"
    shutil.copytree(finished_run, run)
    arguments = ["fit", "--config", str(run / "config.yaml"), "--run", str(run), "--ckpt_path", "last"]
    main([*arguments, "--data.steps", str(7 * UPDATE)])
    about = load_population(run).about
    assert (about["steps"], about["finished"]) == (7 * UPDATE, True)
    before, after = (load_file(each / "population.safetensors") for each in (finished_run, run))
    assert not any(torch.equal(before[name], after[name]) for name in before)
    last = torch.load(run / "checkpoints" / f"step_{7 * UPDATE:012}.ckpt", weights_only=True)
    assert last["global_step"] == 7


def test_a_run_that_was_limited_can_be_extended(tmp_path):
    whole = whole_run(tmp_path / "whole")
    run = train(tmp_path / "run", "--trainer.limit_train_batches", "3", steps=6 * UPDATE)
    arguments = ["fit", "--config", str(run / "config.yaml"), "--run", str(run), "--ckpt_path", "last"]
    main([*arguments, "--trainer.limit_train_batches", "1.0"])
    about = load_population(run).about
    assert (about["steps"], about["finished"]) == (6 * UPDATE, True)
    assert load_population(whole).about["steps"] == 6 * UPDATE


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (["--data.game.payoffs", "[1, 1, 1, 1]"], "game Reaching("),
        (["--config", "methods/independent"], "method BRDiv there and Independent here"),
        (["--data.self_play_rows", "4", "--data.cross_play_rows", "12"], "rows 8 of self-play and 8 of cross-play"),
    ],
)
def test_a_checkpoint_of_something_else_is_refused_with_what_differs(changed, told, finished_run, capsys):
    early = str(finished_run / "checkpoints" / "step_000000000256.ckpt")
    with pytest.raises(SystemExit) as stop:
        main(["fit", "--config", str(finished_run / "config.yaml"), "--ckpt_path", early, *changed])
    assert stop.value.code == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert told in line


def test_a_run_moves_to_another_kind_of_device_with_new_random_numbers_and_says_so(tmp_path, capsys):
    run = whole_run(tmp_path / "whole")
    moved = killed_after(run, 2 * UPDATE, tmp_path / "moved")
    path = moved / "checkpoints" / "step_000000000256.ckpt"
    path.write_bytes(with_other_rank(left_by_a_gpu)(path.read_bytes()))
    resume(moved)
    assert "written on cuda and resumes on cpu: play goes on from where it stood" in capsys.readouterr().err
    here, _, about = load_population(moved)
    assert about["steps"] == 6 * UPDATE
    there = load_population(run).population
    assert not torch.equal(here.layers[0].weight, there.layers[0].weight)


def test_play_goes_on_from_where_it_stood_on_the_other_device(capsys):
    actor = Population(2, 50, 5, [4])
    there, here, undisturbed = (
        collect(Reaching(), Pairing(2, 3, 4), actor, 8, torch.device("cpu"), [7]) for _ in "abc"
    )
    there.rollout()
    undisturbed.rollout()
    state = there.state_dict()
    state["device"], state["actions"] = "cuda", torch.zeros(16, dtype=torch.uint8)
    here.load_state_dict(state, windows=1)
    ours, theirs = here.rollout(), undisturbed.rollout()
    assert torch.equal(ours["agents", "observation"][:, 0], theirs["agents", "observation"][:, 0])
    assert torch.equal(ours["ids"][:, 0], theirs["ids"][:, 0])
    assert not torch.equal(ours["agents", "action"], theirs["agents", "action"])


def test_a_checkpoint_that_says_nothing_of_its_device_was_written_on_a_cpu(tmp_path, capsys):
    run = whole_run(tmp_path / "whole")
    again = killed_after(run, 2 * UPDATE, tmp_path / "killed")
    path = again / "checkpoints" / "step_000000000256.ckpt"
    path.write_bytes(with_other_rank(lambda rank: rank.pop("device"))(path.read_bytes()))
    resume(again)
    assert_same_population(run, again)


def test_a_run_that_resumes_on_the_same_device_says_nothing_of_new_random_numbers(tmp_path, capsys):
    run = whole_run(tmp_path / "whole")
    resume(killed_after(run, 2 * UPDATE, tmp_path / "killed"))
    assert "new random numbers" not in capsys.readouterr().err
