"""How fast things are, measured here and now."""

import time
from collections.abc import Callable
from typing import NamedTuple

import torch

from brdiv.envs import Game, TwoPlayerEnv


class SteppingSpeed(NamedTuple):
    """Environment steps per second, best of several repeats."""

    rules: float  # the game's own step with random actions
    environment: float  # the same through TorchRL's environment, observations and resets included


def stepping_speed(game: Game, rows: int, repeats: int = 5, steps: int = 50) -> SteppingSpeed:
    """Step ``rows`` rows of a game with random actions."""
    generator = torch.Generator().manual_seed(0)
    actions = torch.randint(game.n_actions, (steps, rows, 2), generator=generator)
    env = TwoPlayerEnv(game, rows=rows)

    def step_rules() -> None:
        state = game.initial(rows, generator)
        for action in actions:
            state, _, _ = game.step(state, action)

    def step_environment() -> None:
        now = env.reset()
        for action in actions:
            _, now = env.step_and_maybe_reset(now.set(("agents", "action"), action))

    return SteppingSpeed(*(rows * steps / best_time(run, repeats) for run in (step_rules, step_environment)))


def best_time(run: Callable[[], None], repeats: int) -> float:
    """Seconds of the fastest of several calls, after one to warm up."""
    run()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return min(times)
