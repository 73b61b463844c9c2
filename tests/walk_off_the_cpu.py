"""Walk training and measuring on a made-up device, and print what touched the host, as JSON by name.

In a process of its own, because torch is changed for it. `tests/test_off_the_cpu.py` runs it.
"""

import json
import os
import sys
import traceback

import torch
from brdiv.callbacks import TrainingReturns

from brdiv.games import shipped_games
from brdiv.objectives import LIPO, AnyPlay, BRDiv, Independent, LBRDiv, TrajeDi
from brdiv.rollouts import Pairing, RolloutCollector, TwoPlayerEnv
from brdiv.teamwork import Plastic, all_pairs, both_seats, cross_play, play_pairs
from brdiv.training import TeammateGenerator
from tests.fake_device import GPU, Generator, fake_gpu, to_gpu

METHODS = {
    **{method.__name__: method for method in (BRDiv, Independent, TrajeDi, AnyPlay, LBRDiv, LIPO)},
    "LIPO with mutual information": lambda: LIPO(mutual_information_weight=0.1),
}


def make(game_class, objective):
    game = to_gpu(game_class())
    game.to = lambda device: game  # it is there already
    sizes = game.observation_size, game.n_actions
    return game, to_gpu(TeammateGenerator(*sizes, objective, n_types=3, hidden=[8]))


def update(game_class, method):
    """One update, from playing to the gradients, after a first window that also starts the episodes."""
    game, module = make(game_class, METHODS[method]())
    cross = 5 if module.objective.cross_play else 0
    env = TwoPlayerEnv(game, pairing=Pairing(3, 4, cross), device=GPU)
    collector = RolloutCollector(env, module.population, 4)
    collector.rollout()
    returns = TrainingReturns()
    returns.tally = torch.zeros(3, 4 + cross, device=GPU)
    yield
    rollout = collector.rollout()
    returns.observe(rollout)
    module.objective.observe(rollout, 0.5)
    losses = module.losses(rollout, 0.01)
    torch.stack(list(losses.values())).sum().backward()
    module.objective.after_update()
    assert all(loss.device == GPU for loss in losses.values())
    assert all(p.grad is not None and p.grad.device == GPU for p in module.population.parameters())


def measure(game_class):
    """Cross-play, and PLASTIC with every heuristic."""
    game, module = make(game_class, BRDiv())
    game.horizon = 3
    generator, heuristics, plastic = Generator(GPU), game.heuristics(), Plastic(module.population)
    pairs = all_pairs(heuristics, plastic, GPU)
    yield
    assert cross_play(game, *both_seats(module.population), 2, generator).returns.device == GPU
    assert play_pairs(game, heuristics, plastic, pairs, 2, generator).returns.device == GPU


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
    print(json.dumps(found))
    sys.stdout.flush()
    os._exit(0)  # without taking fake tensors apart


if __name__ == "__main__":
    main()
