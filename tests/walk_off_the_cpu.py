"""Walk training and measuring on a made-up device, and print what touched the host, as JSON by name.

In a process of its own, because torch is changed for it. `tests/test_off_the_cpu.py` runs it.
"""

import json
import os
import sys
import traceback
from types import SimpleNamespace

import torch
from brdiv.callbacks import (
    Checkpoints,
    CrossPlay,
    LearnerEvaluation,
    LearnerExport,
    PlasticEvaluation,
    PopulationExport,
    RewardCheck,
    StepProgress,
    Throughput,
    TrainingReturns,
)

import brdiv.learners.data
from brdiv.bounds import Settings, Task
from brdiv.bounds.responses import PolicyStack
from brdiv.bounds.training import ResponsesData, ResponsesModule
from brdiv.doors.teammates import Teammates
from brdiv.games import shipped_games
from brdiv.learners import LIAM, PPO, LearnerData, LearnerModule
from brdiv.nets import Population
from brdiv.objectives import LIPO, AnyPlay, BRDiv, Independent, LBRDiv, TrajeDi
from brdiv.rollouts import RolloutCollector, TwoPlayerEnv
from brdiv.teamwork import LearnedPolicies, RandomPolicies
from brdiv.training import RolloutData, TeammateGenerator
from tests.fake_device import GPU, fake_gpu, numbers_may_be_read, to_gpu

METHODS = {
    "BRDiv under pressure": lambda: BRDiv(pressure=1.0, tolerance=0.3, extra_pressure=0.5),
    **{method.__name__: method for method in (BRDiv, Independent, TrajeDi, AnyPlay, LBRDiv, LIPO)},
    "LIPO with mutual information": lambda: LIPO(mutual_information_weight=0.1),
}


UPDATES, EVERY = 100, 50  # of a whole run, and between two logs


def trainer_of(data, callbacks):
    """What a run's module and callbacks ask of a Trainer, at its second update."""
    return SimpleNamespace(
        num_training_batches=UPDATES, log_every_n_steps=EVERY, precision="32-true",
        world_size=1, global_step=1, max_steps=-1,
        fit_loop=SimpleNamespace(batch_idx=1), is_global_zero=True, should_stop=False, fast_dev_run=False,
        datamodule=data, loggers=[], early_stopping_callbacks=[], default_root_dir="nowhere",
        strategy=SimpleNamespace(broadcast=lambda value: value, root_device=GPU), callbacks=callbacks,
    )  # fmt: skip


def make(game_class, objective):
    """A run that has come to its second update, with everything that watches it."""
    game = to_gpu(game_class())
    game.to = lambda device: game  # it is there already
    game.horizon = 3
    pressed = getattr(objective, "pressure", None) is not None  # one of them with everything
    sizes = {"n_types": 3, "hidden": [8], "separate_critics": pressed}
    module = to_gpu(TeammateGenerator(game.observation_size, game.n_actions, objective, **sizes))
    module._device = GPU
    rows = {"self_play_rows": 4, "cross_play_rows": 5 - 2 * pressed, "mixed_play_rows": 2 * pressed}
    data = RolloutData(game, 3, objective.cross_play, **rows, window=4, steps=9 * 4 * UPDATES)
    watchers = [StepProgress(), Throughput(), TrainingReturns(), PopulationExport(), CrossPlay(), PlasticEvaluation()]
    trainer = trainer_of(data, [*watchers, RewardCheck(), Checkpoints()])
    module._trainer = trainer
    module.log_dict = lambda metrics, logger: None
    env = TwoPlayerEnv(game, pairing=data.pairing, device=GPU)
    return module, trainer, RolloutCollector(env, module.population, data.window)


def update(game_class, method):
    """A whole update between two logs, after a first window that also starts the episodes."""
    module, trainer, collector = make(game_class, METHODS[method]())
    optimizer = module.configure_optimizers()
    collector.rollout()
    for callback in trainer.callbacks[:3]:
        callback.on_train_start(trainer, module)
    yield
    rollout = collector.rollout()

    def closure():
        loss = module.training_step(rollout, 1)
        assert loss.device == GPU
        loss.backward()
        module.on_before_optimizer_step(optimizer)
        torch.nn.utils.clip_grad_value_(module.parameters(), 1.0)
        return loss

    module.optimizer_step(0, 1, optimizer, closure)
    assert all(p.grad is not None and p.grad.device == GPU for p in module.population.parameters())
    assert module.late_guard.noted.device == GPU
    for callback in trainer.callbacks:
        callback.on_train_batch_end(trainer, module, None, rollout, 1)


def measure(game_class):
    """Cross-play, and PLASTIC with every heuristic, as the callbacks measure and report them."""
    module, trainer, collector = make(game_class, BRDiv())
    watchers = {type(callback): callback for callback in trainer.callbacks}
    collector.rollout()
    yield
    with numbers_may_be_read():
        matrix = watchers[CrossPlay].measure(trainer, module, 2)
        watchers[PlasticEvaluation].evaluate(trainer, module)
    assert matrix.device == GPU


def checkpoint(game_class):
    """What is written down of play is on the CPU, wherever that was."""
    _, _, collector = make(game_class, BRDiv())
    collector.rollout()
    yield
    with numbers_may_be_read():
        state = collector.state_dict()
    found = [value for value in torch.utils._pytree.tree_leaves(state) if isinstance(value, torch.Tensor)]
    assert len(found) > 5
    assert {value.device.type for value in found} == {"cpu"}


LEARNERS = {"PPO": PPO, "LIAM": LIAM}
HORIZON = 3  # shorter than a window: episodes end and begin within


def make_learner(game_class, method, several=True):
    """A learner's run that has come to its second update, with teammates of several kinds and all that watches."""
    game = to_gpu(game_class(horizon=HORIZON))
    game.to = lambda device: game  # it is there already
    population = to_gpu(Population(2, game.observation_size, game.n_actions, [8]))
    population.to = lambda device: population
    kinds = [game.heuristics(), *([LearnedPolicies(population), RandomPolicies(game.n_actions)] if several else [])]
    everyone = [(policies, number) for policies in kinds for number in range(len(policies))]
    teammates = Teammates(game, [f"{policies.names[number]}" for policies, number in everyone], everyone)
    brdiv.learners.data.find_teammates = lambda *wanted, **how: teammates
    weights = [1.0 + number for number in range(len(teammates.names))]
    data = LearnerData(["everyone"], weights, game, rows=8, window=6, steps=8 * 6 * UPDATES)
    module = LearnerModule(game.observation_size, game.n_actions, method(), hidden=[8], memory=8, minibatches=2)
    module = to_gpu(module)
    module._device = GPU
    optimizer = module.configure_optimizers()
    module.optimizers, module.manual_backward = lambda: optimizer, lambda loss: loss.backward()
    trainer = trainer_of(data, [StepProgress(), Throughput(), LearnerExport(), LearnerEvaluation(), RewardCheck()])
    module._trainer = trainer
    module.log_dict = lambda metrics, logger: None
    return module, trainer, data.collect(module, GPU, [0])


def learner_update(game_class, method):
    """A whole update of a learner between two logs, after a first window that also starts the episodes."""
    module, trainer, collector = make_learner(game_class, LEARNERS[method])
    collector.rollout()
    yield
    rollout = collector.rollout()
    assert rollout["memory"].device == rollout["next", "value"].device == GPU
    module.training_step(rollout, 1)
    assert all(p.grad is not None and p.grad.device == GPU for p in module.parameters())
    assert module.late_guard.noted.device == GPU
    for callback in (callback for callback in trainer.callbacks if not isinstance(callback, RewardCheck)):
        callback.on_train_batch_end(trainer, module, None, rollout, 1)


def learner_measure(game_class):
    """What a learner earns with each of its teammates, as the callback measures and reports it.

    They are of one kind: with several, which rows each of them plays is looked at, as numbers are that are told.
    """
    module, trainer, collector = make_learner(game_class, PPO, several=False)
    collector.rollout()
    (watcher,) = (callback for callback in trainer.callbacks if isinstance(callback, LearnerEvaluation))
    yield
    with numbers_may_be_read():
        watcher.measure(trainer, module, 2)


def learner_checkpoint(game_class):
    """What is written down of a learner's play is on the CPU, wherever that was."""
    _, _, collector = make_learner(game_class, PPO)
    collector.rollout()
    yield
    with numbers_may_be_read():
        state = collector.state_dict()
    learner = state["play"]["learner"]
    assert {"memory", "own", "other", "teammates"} == learner.keys()
    found = [value for value in torch.utils._pytree.tree_leaves(state) if isinstance(value, torch.Tensor)]
    assert {value.device.type for value in found} == {"cpu"}


def responses(game_class):
    """A whole update of responses to groups of teams, as `brdiv bounds` trains them."""
    game = to_gpu(game_class(horizon=HORIZON))
    game.to = lambda device: game
    population = Population(3, game.observation_size, game.n_actions, [8])
    task = Task(population, game, [(0,), (1, 2)], Settings(steps=64 * UPDATES, rows=4, window=4))
    module, data = ResponsesModule(task), ResponsesData(task)
    module = to_gpu(module)
    module._device = GPU
    optimizer = module.configure_optimizers()
    module.optimizers = lambda: optimizer
    module._trainer = trainer_of(data, [])
    PolicyStack.to = lambda stack, device: to_gpu(stack)  # as `module.to` would, which doesn't know the made-up device
    collector = data.collect(module, GPU, [0])
    collector.rollout()
    yield
    rollout = collector.rollout()

    def closure():
        loss = module.training_step(rollout, 1)
        assert loss.device == GPU
        loss.backward()
        module.on_before_optimizer_step(optimizer)
        return loss

    module.optimizer_step(0, 1, optimizer, closure)
    assert all(p.grad is not None and p.grad.device == GPU for p in module.responses.parameters())


def walk(watch, steps):
    """Prepare, then watch the rest; returns what was found, or how it failed."""
    try:
        next(steps)
        watch.found.clear()
        next(steps, None)
    except Exception:
        lines = traceback.format_exc().splitlines()
        return [line for line in lines if "brdiv/" in line or "Error" in line]
    return sorted(set(watch.found))


def main():
    found = {}
    with fake_gpu() as watch:
        for name, game in shipped_games().items():
            for method in METHODS:
                found[f"update of {name}, {method}"] = walk(watch, update(game, method))
            found[f"measuring of {name}"] = walk(watch, measure(game))
            found[f"checkpoint of {name}"] = walk(watch, checkpoint(game))
            for method in LEARNERS:
                found[f"learner of {name}, {method}"] = walk(watch, learner_update(game, method))
            found[f"measuring a learner of {name}"] = walk(watch, learner_measure(game))
            found[f"checkpoint of a learner of {name}"] = walk(watch, learner_checkpoint(game))
            found[f"responses of {name}"] = walk(watch, responses(game))
    print(json.dumps(found))
    sys.stdout.flush()
    os._exit(0)  # without taking fake tensors apart


if __name__ == "__main__":
    main()
