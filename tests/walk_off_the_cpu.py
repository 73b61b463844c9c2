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
    PlasticEvaluation,
    PopulationExport,
    RewardCheck,
    StepProgress,
    Throughput,
    TrainingReturns,
)

from brdiv.games import shipped_games
from brdiv.objectives import LIPO, AnyPlay, BRDiv, Independent, LBRDiv, TrajeDi
from brdiv.rollouts import RolloutCollector, TwoPlayerEnv
from brdiv.training import RolloutData, TeammateGenerator
from tests.fake_device import GPU, fake_gpu, numbers_may_be_read, to_gpu

METHODS = {
    "BRDiv under pressure": lambda: BRDiv(pressure=1.0, tolerance=0.3, extra_pressure=0.5),
    **{method.__name__: method for method in (BRDiv, Independent, TrajeDi, AnyPlay, LBRDiv, LIPO)},
    "LIPO with mutual information": lambda: LIPO(mutual_information_weight=0.1),
}


UPDATES, EVERY = 100, 50  # of a whole run, and between two logs


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
    trainer = SimpleNamespace(
        num_training_batches=UPDATES, log_every_n_steps=EVERY, precision="32-true",
        world_size=1, global_step=1, max_steps=-1,
        fit_loop=SimpleNamespace(batch_idx=1), is_global_zero=True, should_stop=False, fast_dev_run=False,
        datamodule=data, loggers=[], early_stopping_callbacks=[], default_root_dir="nowhere",
        strategy=SimpleNamespace(broadcast=lambda value: value, root_device=GPU),
        callbacks=[
            StepProgress(), Throughput(), TrainingReturns(), PopulationExport(), CrossPlay(), PlasticEvaluation(),
            RewardCheck(), Checkpoints(),
        ],
    )  # fmt: skip
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
    print(json.dumps(found))
    sys.stdout.flush()
    os._exit(0)  # without taking fake tensors apart


if __name__ == "__main__":
    main()
