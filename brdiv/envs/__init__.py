"""The games, and the environment that plays them in batches."""

from brdiv.envs.game import Actor, Game
from brdiv.envs.reaching import Reaching
from brdiv.envs.two_player import TwoPlayerEnv

__all__ = ["Actor", "Game", "Reaching", "TwoPlayerEnv"]
