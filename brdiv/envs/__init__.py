"""The games, other people's environments, and what plays them in batches."""

import torch
from torchrl.envs import EnvBase

from brdiv.envs.cooking import Cooking
from brdiv.envs.foreign import ForeignEnv, ForeignGame, Gymnasium, PettingZoo
from brdiv.envs.game import Actor, Game, Task
from brdiv.envs.lbf import LBF
from brdiv.envs.reaching import Reaching
from brdiv.envs.two_player import IdDraw, TwoPlayerEnv

__all__ = [
    "LBF",
    "Actor",
    "Cooking",
    "ForeignEnv",
    "ForeignGame",
    "Game",
    "Gymnasium",
    "IdDraw",
    "PettingZoo",
    "Reaching",
    "Task",
    "TwoPlayerEnv",
    "make_env",
]


def make_env(task: Task, pairing: IdDraw, device: torch.device | str, seed: int) -> EnvBase:
    """Build the environment in which a task is played, one row for each of the pairing's."""
    if isinstance(task, ForeignGame):
        return ForeignEnv(task, pairing, device, seed)
    assert isinstance(task, Game)
    return TwoPlayerEnv(task, pairing=pairing, device=device, seed=seed)
