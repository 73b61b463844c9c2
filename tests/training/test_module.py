import math

import pytest
import torch
from lightning import Trainer
from safetensors.torch import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.data import DataLoader

from brdiv.games import Reaching
from brdiv.objectives import BRDiv
from brdiv.training import RolloutData, TeammateGenerator
from tests.objectives.rollouts import random_rollout
from tests.small_runs import train


def weights(run):
    return load_file(run / "population.safetensors")


def same(first, second):
    return all(torch.equal(first[name], second[name]) for name in first)


def test_same_seed_same_weights_bit_for_bit(tmp_path):
    first, again, other = (
        weights(train(tmp_path / name, "--seed_everything", seed))
        for name, seed in (("a", "3"), ("b", "3"), ("c", "4"))
    )
    assert same(first, again)
    assert not same(first, other)


def test_watching_changes_nothing(tmp_path):
    unwatched = train(tmp_path / "unwatched", "--cross_play.every", "0", "--trainer.log_every_n_steps", "1000")
    watched = train(tmp_path / "watched", "--cross_play.every", "128", "--cross_play.episodes", "3")
    assert same(weights(unwatched), weights(watched))


def test_a_checkpoint_loads_without_arguments_and_without_pickled_code(tmp_path):
    run = train(tmp_path / "run")
    (checkpoint,) = (run / "checkpoints").glob("step_*.ckpt")
    module = TeammateGenerator.load_from_checkpoint(checkpoint, weights_only=True)
    assert isinstance(module.objective, BRDiv)
    assert module.env_steps == 128 * 12
    assert same(weights(run), module.population.state_dict())


def fit(module, updates=1, data=None):
    data = data or RolloutData(Reaching(), n_types=4, self_play_rows=4, cross_play_rows=4, steps=64 * updates)
    trainer = Trainer(max_epochs=1, logger=False, enable_checkpointing=False, enable_progress_bar=False,
                      enable_model_summary=False, accelerator="cpu")  # fmt: skip
    trainer.fit(module, data)


def test_windows_from_elsewhere_train_it_too(generator):
    module = TeammateGenerator(6, 5, BRDiv(), n_types=3, hidden=[8])
    before = module.population.layers[0].weight.clone()
    windows = [random_rollout(generator, 3) for _ in range(2)]
    fit(module, data=DataLoader(windows, batch_size=None, collate_fn=lambda window: window))
    assert not torch.equal(before, module.population.layers[0].weight)


class HalfCurious(BRDiv):
    """Only team 0's entropy is worth something."""

    def entropy_weight(self, weight, ids):
        return weight * (ids == 0)


def test_an_objective_may_weigh_the_entropy_of_each_team(generator):
    module = TeammateGenerator(6, 5, HalfCurious(), n_types=3, hidden=[8])
    rollout = random_rollout(generator, 3)
    log_probs = module.population(rollout["agents", "observation"], rollout["ids"]).log_softmax(-1)
    entropies = -(log_probs.exp() * log_probs).sum(-1)
    expected = -0.5 * sum(float(entropies[..., seat][rollout["ids"][..., seat] == 0].sum()) for seat in (0, 1))
    assert float(module.losses(rollout, 0.5)["entropy"]) == pytest.approx(expected / rollout.numel(), rel=1e-4)


def test_the_target_critic_follows_the_critic():
    module = TeammateGenerator(50, 5, BRDiv(), hidden=[16], learning_rate=0.1, tau=0.25)
    before = module.target_critic.layers[0].weight.clone()
    fit(module)
    after = module.critic.layers[0].weight
    assert not torch.allclose(before, after)
    assert torch.allclose(module.target_critic.layers[0].weight, 0.75 * before + 0.25 * after)


def test_only_the_target_critic_escapes_the_optimiser():
    module = TeammateGenerator(50, 5, BRDiv(), hidden=[16])
    (group,) = module.configure_optimizers().param_groups
    assert len(group["params"]) == len([*module.population.parameters(), *module.critic.parameters()])


def test_the_entropy_weight_moves_over_the_run(monkeypatch):
    module = TeammateGenerator(
        50, 5, BRDiv(), hidden=[16], entropy_weight=1.0, final_entropy_weight=0.0, entropy_hold=0.5
    )
    seen = []
    original = module.losses
    monkeypatch.setattr(module, "losses", lambda rollout, weight: seen.append(weight) or original(rollout, weight))
    fit(module, updates=8)
    assert seen == [1.0, 1.0, 1.0, 1.0, 1.0, 0.75, 0.5, 0.25]


@pytest.mark.parametrize(("gain", "least", "most"), [(0.01, 0.999, 1.0), (50.0, 0.0, 0.5)])
def test_the_entropy_of_a_policy_is_logged_even_where_it_weighs_nothing(gain, least, most, tmp_path):
    """Five actions: a policy that has learned nothing yet chooses evenly among them, one with habits does not."""
    nothing = ("--model.entropy_weight", "0", "--model.objective.init_args.seeking_entropy", "0")
    run = train(tmp_path / "run", *nothing, "--model.policy_gain", str(gain), steps=128)
    events = EventAccumulator(str(run)).Reload()
    (logged,) = [event.value for event in events.Scalars("policy/entropy")]
    assert least * math.log(5) < logged <= most * math.log(5) + 1e-6
    assert [event.value for event in events.Scalars("loss/entropy")] == [0.0]


@pytest.mark.parametrize("setting", [{"learning_rate": 0.0}, {"gamma": 1.1}, {"tau": -0.1}, {"entropy_hold": 2.0}])
def test_settings_without_meaning_are_refused(setting):
    (name,) = setting
    with pytest.raises(ValueError, match=name):
        TeammateGenerator(50, 5, BRDiv(), **setting)
