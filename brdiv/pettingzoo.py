"""The games as PettingZoo's parallel environments: `parallel_env("LBF")`."""

from brdiv.doors.pettingzoo import GameParallelEnv, parallel_env

__all__ = ["GameParallelEnv", "parallel_env"]
