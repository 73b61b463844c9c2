"""`brdiv learn` as a user runs it: what it trains, writes, refuses, and how it resumes."""

import shutil

import pytest
import torch
from safetensors.torch import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from brdiv.commands import main
from brdiv.games import Reaching
from brdiv.learners import PPO, LearnerModule
from brdiv.runs import load_learner, load_population
from tests.doors.populations import small_file
from tests.learners.small import SMALL, UPDATE, learn


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main(["learn", *arguments])
    assert stop.value.code == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1, lines
    return lines[0]


def test_a_mix_of_everyone_trains_a_learner_whose_file_says_how(tmp_path, capsys):
    file = small_file(tmp_path)
    run = learn(tmp_path / "run", teammates=(file, f"{file}:2", "H1,H4", "random"))
    saved = load_learner(run)
    assert saved.about["steps"] == 4 * UPDATE
    assert saved.about["finished"]
    assert saved.about["teammates"] == [*(f"{file}:{k}" for k in (1, 2, 3, 2)), "H1", "H4", "random"]
    assert saved.about["prepared_with"] == ["unknown", "H1", "H4", "random"]
    assert len(saved.about["populations"]) == 1
    assert saved.game.same_as(Reaching())
    events = EventAccumulator(str(run)).Reload()
    tags = set(events.Tags()["scalars"])
    assert {"loss/policy", "loss/value", "loss/entropy", "learner/mean_return", "learner/H4"} <= tags
    assert "throughput/env_steps_per_second" in tags
    assert [e.step for e in events.Scalars("loss/policy")] == [UPDATE * n for n in range(1, 5)]
    out = capsys.readouterr().out
    assert "with H4" in out
    assert "learner.safetensors" in out


def test_a_run_resumes_where_its_teammates_have_been_moved(tmp_path, capsys):
    file = small_file(tmp_path)
    run = learn(tmp_path / "run", teammates=(f"{file}:2", "H1"))
    moved = shutil.move(file, tmp_path / "moved.safetensors")
    longer = ["--data.steps", str(8 * UPDATE), "--ckpt_path", "last"]
    config = ["learn", "--config", str(run / "config.yaml"), "--run", str(run)]
    main([*config, "--teammates", f"{moved}:2", "H1", *longer])
    assert load_learner(run).about["steps"] == 8 * UPDATE
    assert "teammates" in refused(capsys, *config[1:], "--teammates", f"{moved}:1", "H1", *longer)


@pytest.mark.parametrize("config", ["learners/ppo", "learners/liam"])
@pytest.mark.parametrize("game", ["Reaching", "LBF", "Cooking"])
def test_a_run_that_was_killed_ends_bit_for_bit_as_if_it_never_had_been(config, game, tmp_path):
    options = ["--checkpoints.every", str(UPDATE), "--checkpoints.keep", "99", "--data.game.horizon", "9"]
    run = learn(tmp_path / "whole", *options, teammates=("heuristics", "random"), game=game, config=config)
    again = tmp_path / "killed"
    shutil.copytree(run, again)
    (again / "learner.safetensors").unlink()
    for path in (again / "checkpoints").glob("step_*.ckpt"):
        if int(path.stem.removeprefix("step_")) > 2 * UPDATE:
            path.unlink()
    main(["learn", "--config", str(again / "config.yaml"), "--run", str(again), "--ckpt_path", "last"])
    ours, theirs = (load_file(r / "learner.safetensors") for r in (run, again))
    assert ours.keys() == theirs.keys()
    for name, weights in ours.items():
        assert torch.equal(weights, theirs[name]), name
    last = sorted((run / "checkpoints").glob("step_*"))[-1].name
    mine, other = (torch.load(r / "checkpoints" / last, weights_only=True) for r in (run, again))
    for name, value in mine["state_dict"].items():  # the method's own networks, too
        assert torch.equal(value, other["state_dict"][name]), name


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--data.game", "Reaching"], "teammates names nobody"),
        (["--teammates", "H1"], "no teammate is of a population file: name the game"),
        (["--teammates", "H99", "--data.game", "Reaching"], "no heuristic H99"),
        (["--teammates", "no/such.safetensors"], "no population file at no/such.safetensors"),
        (["--teammates", "H1", "--data.game", "Reaching", "--data.weights", "[1, 2]"], "weights are 2"),
        (["--teammates", "H1", "--data.game", "Reaching", "--data.weights", "[-1]"], "none may be negative"),
        (["--teammates", "H1", "--data.game", "Reaching", "--data.weights", "[1e-31]"], "data.weights is 1e-31"),
        (["--teammates", "H1", "--data.game", "Reaching", "--data.weights", "[0]"], "some must be positive"),
        (["--teammates", "H1", "--data.game", "Reaching", "--data.game.horizon", "0"], "horizon is 0"),
        (["--teammates", "H1", "--data.game", "Reaching", "--model.epochs", "1001"], "epochs is 1001"),
        (
            [
                "--teammates",
                "H1",
                "--data.game",
                "Reaching",
                "--config",
                "learners/liam",
                "--model.method.hidden",
                "1000000000000",
            ],
            "a decoder with 1000000000000 neurons: that takes",
        ),
        (["--teammates", "H1", "--data.game", "Reaching", "--data.rows", "0"], "rows is 0"),
        (["--teammates", "H1", "--data.game", "Reaching", "--model.epochs", "0"], "epochs is 0"),
        (["--teammates", "H1", "--data.game", "Reaching", "--model.clip", "0"], "clip is 0"),
        (["--teammates", "H1", "--data.game", "Reaching", "--model.gae_lambda", "2"], "gae_lambda is 2"),
        (["--teammates", "H1", "--data.game", "Reaching", "--model.method", "Nobody"], "model.method: no such class"),
        (["--teammates", "H1", "--data.game", "Reaching", "--data.steps", "10"], "less than the"),
        (["--teammates", "H1", "--data.game", "Reaching", "--ckpt_path", "last"], "no run folder"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_one_line(arguments, told, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert told in refused(capsys, "--config", "learners/ppo", *arguments)
    assert not list(tmp_path.glob("runs/*")), "a refused run leaves nothing behind"


def test_a_checkpoint_of_other_teammates_is_refused(tmp_path, capsys):
    run = learn(tmp_path / "run", "--checkpoints.every", str(UPDATE))
    options = ["--config", str(run / "config.yaml"), "--run", str(run), "--ckpt_path", "last"]
    told = refused(capsys, *options, "--teammates", "H1,H5", "--data.steps", str(9 * UPDATE))
    assert "teammates H1, H4 there and H1, H5 here" in told


def test_heuristics_are_no_validation_strangers(tmp_path, capsys):
    file = small_file(tmp_path)
    common = ["--config", "learners/ppo", *SMALL, "--data.steps", str(UPDATE), "--run", str(tmp_path / "run")]
    told = refused(capsys, *common, "--teammates", file, "--evaluation.validation", "[H1]")
    assert "heuristics are for tables" in told
    assert "trained with some of these" in refused(
        capsys, *common, "--teammates", file, "--evaluation.validation", f"[{file}]"
    )
    assert not (tmp_path / "run").exists()


def test_validation_strangers_are_shown_and_remembered(tmp_path):
    (tmp_path / "other").mkdir()
    file, other = small_file(tmp_path), small_file(tmp_path / "other", n_types=2)
    run = learn(tmp_path / "run", "--evaluation.validation", f"[{other}]", teammates=(file,))
    about = load_learner(run).about
    assert about["validation"] == [load_population(other).about["sha256"]]
    assert about["populations"] == [load_population(file).about["sha256"]]
    events = EventAccumulator(str(run)).Reload()
    assert "validation/mean_return" in events.Tags()["scalars"]


def test_the_optimiser_steps_once_for_each_part_of_each_epoch():
    module = LearnerModule(10, 5, PPO(), epochs=3, minibatches=4)
    parts = list(module.parts(10, batch_idx=7))
    assert module.steps_per_window == len(parts) == 12
    for epoch in range(3):
        rows = torch.cat(parts[4 * epoch : 4 * epoch + 4])
        assert sorted(rows.tolist()) == list(range(10))
    assert [p.tolist() for p in parts] == [p.tolist() for p in module.parts(10, batch_idx=7)]
    assert [p.tolist() for p in parts] != [p.tolist() for p in module.parts(10, batch_idx=8)]
