"""A run that resumes on another kind of device."""

import torch

from brdiv.games import Reaching
from brdiv.nets import Population
from brdiv.rollouts import Pairing, collect
from brdiv.runs import load_population
from tests.runs.killed_runs import (
    UPDATE,
    assert_same_population,
    killed_after,
    resume,
    whole_run,
    with_other_rank,
)


def left_by_a_gpu(rank):
    """What a GPU's generators would have left: their states have 16 bytes."""
    rank["device"] = "cuda"
    rank["actions"] = rank["play"]["draws"]["generator"] = torch.zeros(16, dtype=torch.uint8)


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
