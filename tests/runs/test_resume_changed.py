"""A run that resumes with other settings: more steps, another learning rate, an earlier checkpoint."""

import shutil

import torch
from safetensors.torch import load_file

from brdiv.commands import main
from brdiv.runs import load_population
from tests.runs.killed_runs import UPDATE, killed_after, whole_run
from tests.small_runs import train


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
