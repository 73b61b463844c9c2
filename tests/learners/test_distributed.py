"""Two processes train one learner, by gloo: the same weights in both, one set of files, and it resumes bit for bit."""

import pytest

from brdiv.runs import about_learner
from tests.learners.small import SMALL
from tests.learners.test_killed import assert_same_learner
from tests.training.test_distributed import TWO, WATCH, brdiv, finish

UPDATE = 2 * 8 * 6  # steps of both ranks
WATCHED = WATCH.replace('float(outputs["loss"])', "0.0")


@pytest.fixture(scope="module")
def run_of_two(tmp_path_factory):
    """The folder in which two processes trained a learner, and what they printed."""
    folder = tmp_path_factory.mktemp("two")
    (folder / "watching.py").write_text(WATCHED)
    return folder, finish(brdiv(folder, *options("run")))


def options(run):
    told = ["learn", "--config", "learners/liam", "--teammates", "heuristics", "--data.game", "Reaching", *TWO, *SMALL]
    told += ["--data.steps", str(UPDATE * 6), "--checkpoints.every", str(UPDATE * 2), "--checkpoints.keep", "99"]
    told += ["--evaluation.final_episodes", "2", "--trainer.log_every_n_steps", "1"]
    return [*told, "--trainer.callbacks+=watching.Digest", "--run", run, "--ckpt_path", "auto"]


def test_both_have_the_same_weights_though_they_play_apart_and_one_writes(run_of_two):
    folder, out = run_of_two
    ranks = [(folder / f"rank{rank}.txt").read_text().split() for rank in range(2)]
    assert ranks[0] == ranks[1]
    assert ranks[0][1:] == ["2", str(UPDATE * 6), "1"]
    assert out.count("mean over 11 teammates") == 1
    assert len(list((folder / "run").glob("events.out.tfevents*"))) == 1
    assert about_learner(folder / "run")["steps"] == UPDATE * 6


def test_a_run_of_two_resumes_bit_for_bit(run_of_two):
    folder, _ = run_of_two
    finish(brdiv(folder, *options("again")))
    for path in (folder / "again/checkpoints").glob("step_*.ckpt"):
        if int(path.stem.removeprefix("step_")) > 2 * UPDATE:
            path.unlink()
    (folder / "again/learner.safetensors").unlink()
    finish(brdiv(folder, *options("again")))
    assert_same_learner(folder / "run", folder / "again")
