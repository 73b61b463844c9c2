"""Damaged checkpoints and tables: one clear line, or passed over."""

import io
import pickle

import pytest
import torch

from brdiv.commands import main
from tests.runs.killed_runs import (
    UPDATE,
    as_pickle,
    assert_same_population,
    killed_after,
    resume,
    whole_run,
    with_other_rank,
)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data + b"768,1,1,0.",
        lambda data: data + b"\x00\xff\xfe" * 50,
        lambda data: data + b'"768,1,1\n',
        lambda data: data + b"later,1,1,0.5,3,2\n",
        lambda data: b"",
        lambda data: b"\xff" + data,
    ],
    ids=["cut", "binary", "quote", "no number", "empty", "header flipped"],
)
def test_a_damaged_table_does_not_keep_a_run_from_resuming(damage, tmp_path):
    options = ["--cross_play.every", str(20 * UPDATE), "--cross_play.episodes", "2"]
    run = whole_run(tmp_path / "whole", *options, updates=41)  # so that the first matrix comes after the third update
    table = (run / "cross_play.csv").read_bytes()
    again = killed_after(run, 2 * UPDATE, tmp_path / "killed")
    (again / "cross_play.csv").write_bytes(damage(table))
    resume(again)
    assert (again / "cross_play.csv").read_bytes() == table


def test_a_damaged_newest_checkpoint_is_passed_over(tmp_path):
    run = whole_run(tmp_path / "whole")
    again = killed_after(run, 4 * UPDATE, tmp_path / "killed")
    newest = sorted((again / "checkpoints").glob("step_*"))[-1]
    newest.write_bytes(newest.read_bytes()[:1000])
    resume(again)
    assert_same_population(run, again)


class Bomb:
    def __reduce__(self):
        return (exec, ("raise SystemExit('code was executed')",))


def flip(data, place):
    return data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]


def repacked(**changes):
    """A checkpoint with some entries replaced, or removed where None."""

    def change(data):
        checkpoint = torch.load(io.BytesIO(data), weights_only=True)
        checkpoint.update(changes)
        checkpoint = {name: value for name, value in checkpoint.items() if value is not None}
        file = io.BytesIO()
        torch.save(checkpoint, file)
        return file.getvalue()

    return change


def with_other_play(change):
    """A checkpoint whose environments are told of in other words."""
    return with_other_rank(lambda rank: change(rank["play"]))


def without_numbers(data):
    """A checkpoint whose critic, which play does not need, has weights that are no numbers."""
    weights = torch.load(io.BytesIO(data), weights_only=True)["state_dict"]
    return repacked(
        state_dict={name: value * float("nan") if "critic" in name else value for name, value in weights.items()}
    )(data)


DAMAGE = {
    "a critic without numbers": without_numbers,
    "another version": with_other_play(lambda play: play.update(format=play["format"] + 1)),
    "no version": with_other_play(lambda play: play.pop("format")),
    "empty": lambda data: b"",
    "truncated": lambda data: data[: len(data) // 2],
    "cut by a byte": lambda data: data[:-1],
    "header flipped": lambda data: flip(data, 0),
    "directory flipped": lambda data: flip(data, len(data) - 30),
    "weights flipped": lambda data: flip(data, len(data) // 2),
    "text": lambda data: b"hello, world" * 40,
    "pickle bomb": lambda data: pickle.dumps(Bomb()),
    "bomb in a checkpoint": lambda data: as_pickle({"env_steps": Bomb(), "state_dict": {}}),
    "a list": lambda data: as_pickle([1, 2, 3]),
    "weights alone": lambda data: as_pickle({"weight": torch.zeros(3)}),
    "no optimiser": repacked(optimizer_states=None),
    "no weights": repacked(state_dict={}),
    "wrong type": repacked(state_dict="hello"),
    "steps that are no number": repacked(env_steps="many"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_checkpoint_gets_one_clear_line(kind, finished_run, tmp_path, capsys):
    data = (finished_run / "checkpoints" / "step_000000000256.ckpt").read_bytes()
    path = tmp_path / "run" / "checkpoints" / "step_000000000256.ckpt"
    path.parent.mkdir(parents=True)
    path.write_bytes(DAMAGE[kind](data))
    config = str(finished_run / "config.yaml")
    with pytest.raises(SystemExit) as stop:
        main(["fit", "--config", config, "--run", str(tmp_path / "run"), "--ckpt_path", str(path)])
    assert stop.value.code == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert str(path) in line
    assert "Traceback" not in line
    assert [found for found in (tmp_path / "run").rglob("*") if found.is_file()] == [path]
