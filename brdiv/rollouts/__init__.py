"""A game becomes windows of play: TorchRL environments, external environments, pairings and collectors."""

from brdiv.rollouts.collector import Actor, RolloutCollector, collect
from brdiv.rollouts.environment import Moment, RowsEnv, Step
from brdiv.rollouts.external import ExternalEnv, ExternalGame, Gymnasium, PettingZoo
from brdiv.rollouts.pairings import NoIds, Pairing
from brdiv.rollouts.two_player import TwoPlayerEnv, make_env

__all__ = [
    "Actor",
    "ExternalEnv",
    "ExternalGame",
    "Gymnasium",
    "Moment",
    "NoIds",
    "Pairing",
    "PettingZoo",
    "RolloutCollector",
    "RowsEnv",
    "Step",
    "TwoPlayerEnv",
    "collect",
    "make_env",
]
