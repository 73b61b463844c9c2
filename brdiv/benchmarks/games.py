"""How fast games step with random play."""

from typing import NamedTuple

import torch

from brdiv.benchmarks.timing import timed
from brdiv.games import Game
from brdiv.rollouts import TwoPlayerEnv


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

    return SteppingSpeed(*(rows * steps / min(timed(run, repeats)) for run in (step_rules, step_environment)))
