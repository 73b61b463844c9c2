import copy

import pytest
import torch
from lightning import Trainer

from brdiv.games import Reaching
from brdiv.nets import Population
from brdiv.objectives import BRDiv
from brdiv.rollouts import Pairing, collect
from brdiv.training import RolloutData, TeammateGenerator


class Recorder(Population):
    """Remembers the weights that every action came from."""

    def __init__(self, *args):
        super().__init__(*args)
        self.acted_with = []

    def act(self, observation, ids, generator=None):
        self.acted_with.append(self.layers[0].weight.detach().clone())
        return super().act(observation, ids, generator)


class Spy(TeammateGenerator):
    """Remembers the weights that every update started from, and what it learned from."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        recorder = Recorder(4, 50, 5, [16])
        self.population = recorder
        self.updated_from, self.batches = [], []

    def training_step(self, rollout, batch_idx):
        self.updated_from.append(self.population.layers[0].weight.detach().clone())
        self.batches.append(rollout.clone())
        return super().training_step(rollout, batch_idx)


@pytest.fixture(scope="module")
def spied():
    torch.manual_seed(0)
    data = RolloutData(Reaching(), n_types=4, self_play_rows=4, cross_play_rows=12, steps=16 * 8 * 10 + 5, seed=1)
    spy = Spy(50, 5, BRDiv(), hidden=[16], learning_rate=0.01)
    trainer = Trainer(max_epochs=1, logger=False, enable_checkpointing=False, enable_progress_bar=False,
                      enable_model_summary=False, accelerator="cpu")  # fmt: skip
    trainer.fit(spy, data)
    return spy


def test_every_batch_is_played_by_the_policy_it_updates(spied):
    acted_with = spied.population.acted_with
    assert len(acted_with) == 8 * len(spied.updated_from)
    for update, weights in enumerate(spied.updated_from):
        for acted in acted_with[8 * update : 8 * update + 8]:
            assert torch.equal(acted, weights)
    assert not torch.equal(spied.updated_from[0], spied.updated_from[1])


def test_the_budget_is_counted_in_environment_steps_and_never_exceeded(spied):
    assert len(spied.batches) == 10
    assert spied.env_steps == 16 * 8 * 10


def test_windows_go_on_where_the_last_one_stopped(spied):
    for before, after in zip(spied.batches[:-1], spied.batches[1:], strict=True):
        going_on = ~before["next", "done"][:, -1, 0]
        last, first = before["next", "agents", "observation"][:, -1], after["agents", "observation"][:, 0]
        assert torch.equal(last[going_on], first[going_on])
        assert torch.equal(before["ids"][going_on, -1], after["ids"][going_on, 0])


def windows_of(actor, seed, n=3):
    windows = iter(collect(Reaching(), Pairing(4, 4, 12), actor, 8, torch.device("cpu"), seed))
    return [next(windows).clone() for _ in range(n)]


def test_same_seed_same_batches_and_each_rank_its_own():
    actor = Population(4, 50, 5, [16])
    first, again = windows_of(actor, [7, 0]), windows_of(copy.deepcopy(actor), [7, 0])
    other_rank = windows_of(actor, [7, 1])
    for a, b in zip(first, again, strict=True):
        assert (a == b).all()
    assert not (first[0]["agents", "observation"] == other_rank[0]["agents", "observation"]).all()


def test_without_cross_play_all_rows_play_themselves():
    data = RolloutData(Reaching(), n_types=4, cross_play=False)
    assert (data.pairing.rows, data.pairing.self_play_rows) == (160, 160)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"steps": -5}, "steps is -5"),
        ({"steps": 1279}, "less than the 1280 of one update"),
        ({"window": 0}, "window is 0"),
        ({"n_types": 1}, "n_types is 1"),
        ({"self_play_rows": -3}, "self_play_rows is -3"),
    ],
)
def test_impossible_settings_are_refused(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        RolloutData(Reaching(), **{"n_types": 4, **arguments})
