"""The returns of training, against episodes that are followed one by one."""

import pytest
import torch
from brdiv.callbacks import TrainingReturns
from lightning import Callback
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests.runs.killed_runs import killed_after, resume, whole_run
from tests.small_runs import train

UPDATE = 16 * 8


class Follower(Callback):
    """Follows every row step by step, and keeps what the episodes earned that ended in each update, by kind."""

    def __init__(self):
        self.so_far = [0.0] * 16
        self.found = []

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        ended = {"self_play": [], "cross_play": []}
        for row in range(16):
            i, j = batch["ids"][row, 0].tolist()
            for step in range(8):
                self.so_far[row] += float(batch["next", "reward"][row, step])
                if batch["next", "done"][row, step]:
                    ended["self_play" if i == j else "cross_play"].append(self.so_far[row])
                    self.so_far[row] = 0.0
        self.found.append(ended)

    def on_train_end(self, trainer, module):
        torch.save(self.found, "followed.pt")


def logged(run, update=UPDATE):
    events = EventAccumulator(str(run)).Reload()
    tags = [tag for tag in events.Tags()["scalars"] if tag.startswith("training_return/")]
    return {tag.split("/")[1]: {e.step // update: e.value for e in events.Scalars(tag)} for tag in tags}


def expected(followed, every):
    """Means of all that ended after one log and up to the next, by kind and update; the first is logged."""
    means = {}
    for kind in followed[0]:
        waiting = []
        for update, ended in enumerate(followed, 1):
            waiting += ended[kind]
            if (update - 1) % every == 0:
                if waiting:
                    means.setdefault(kind, {})[update] = sum(waiting) / len(waiting)
                waiting = []
    return means


def assert_close(found, wanted):
    assert found.keys() == wanted.keys()
    for kind, values in wanted.items():
        assert found[kind].keys() == values.keys()
        assert all(abs(found[kind][update] - value) < 1e-5 for update, value in values.items())


@pytest.mark.parametrize("mixed", [0, 8])
def test_logged_returns_are_those_of_the_episodes_that_ended(mixed, tmp_path, monkeypatch):
    """Episodes of up to 11 steps: some end twice in a window of 8, some not at all. Rows of mixed play don't count."""
    monkeypatch.chdir(tmp_path)
    options = ["--data.game.horizon", "11", "--trainer.log_every_n_steps", "3"]
    options += ["--trainer.callbacks+=tests.callbacks.test_returns.Follower"]
    options += ["--data.mixed_play_rows", str(mixed), "--data.takeover", "0.5"]
    run = train(tmp_path / "run", *options, steps=(16 + mixed) * 8 * 20)
    wanted = expected(torch.load("followed.pt"), every=3)
    assert any(value > 0 for value in wanted["self_play"].values())
    assert_close(logged(run, (16 + mixed) * 8), wanted)


def test_methods_without_cross_play_log_none(tmp_path):
    run = train(tmp_path / "run", "--config", "methods/independent", "--data.game.horizon", "11", steps=UPDATE * 4)
    assert logged(run).keys() == {"self_play"}


def window(reward, done):
    """One row of self-play."""
    reward, done = torch.tensor([reward]), torch.tensor([done]).bool()
    return {("next", "reward"): reward[..., None], ("next", "done"): done[..., None]}


def test_an_episode_counts_when_it_ends_with_all_it_was_paid():
    returns, ids, whole = TrainingReturns(), torch.tensor([[2, 2]]), torch.tensor([False])
    returns.tally = torch.zeros(3, 1)
    returns.observe(window([0.0, 1.0, 0.0], [0, 0, 0]))
    assert returns.means(ids, whole) == {}
    returns.observe(window([-4.0, 0.5, 8.0], [1, 1, 0]))  # one of 1 - 4, one of 0.5, and 8 for a third
    assert returns.means(ids, whole) == {"training_return/self_play": (-3.0 + 0.5) / 2}
    returns.observe(window([0.0, 0.0, 1.0], [0, 0, 1]))
    assert returns.means(ids, whole) == {"training_return/self_play": 9.0}


def test_a_run_that_resumes_logs_the_returns_it_would_have_logged(tmp_path):
    """It resumes between two logs: what ended since the last one must not be forgotten."""
    run = whole_run(tmp_path / "whole", "--trainer.log_every_n_steps", "16", updates=18)
    again = killed_after(run, 14 * UPDATE, tmp_path / "killed")
    resume(again)
    assert any(values.get(17, 0) > 0 for values in logged(run).values())
    assert logged(again) == logged(run)
