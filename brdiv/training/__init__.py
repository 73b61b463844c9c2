"""Training: the stream of rollouts, and Algorithm 1 as a LightningModule."""

from brdiv.training.data import RolloutData, RolloutStream
from brdiv.training.description import made_with
from brdiv.training.finite import NotFiniteError
from brdiv.training.module import TeammateGenerator

__all__ = ["NotFiniteError", "RolloutData", "RolloutStream", "TeammateGenerator", "made_with"]
