"""Runs as a kill would have left them, and changed checkpoints, for tests."""

import io
import shutil

import torch
from safetensors.torch import load_file

from brdiv.commands import main
from tests.small_runs import train

UPDATE = 16 * 8


def killed_after(run, step, folder):
    """A copy of a run as a kill would have left it: checkpoints up to ``step``, logs beyond it."""
    shutil.copytree(run, folder)
    (folder / "population.safetensors").unlink()
    for path in (folder / "checkpoints").glob("step_*.ckpt"):
        if int(path.stem.removeprefix("step_")) > step:
            path.unlink()
    return folder


def resume(folder):
    main(["fit", "--config", str(folder / "config.yaml"), "--run", str(folder), "--ckpt_path", "last"])


def whole_run(folder, *arguments, updates=6, **kwargs):
    options = ["--checkpoints.every", str(2 * UPDATE), "--checkpoints.keep", "99", *arguments]
    return train(folder, *options, steps=UPDATE * updates, **kwargs)


def assert_same_population(first, second):
    ours, theirs = (load_file(run / "population.safetensors") for run in (first, second))
    assert ours.keys() == theirs.keys()
    for name, weights in ours.items():
        assert torch.equal(weights, theirs[name]), name


def as_pickle(value):
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


def with_other_rank(change):
    """A checkpoint that tells otherwise where its one process stood."""

    def damage(data):
        checkpoint = torch.load(io.BytesIO(data), weights_only=True)
        (stream,) = checkpoint["loops"]["fit_loop"]["state_dict"]["combined_loader"]
        (rank,) = stream["ranks"]
        change(rank)
        return as_pickle(checkpoint)

    return damage
