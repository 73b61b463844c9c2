"""Training: the stream of rollouts, and Algorithm 1 as a LightningModule."""

from brdiv.training.counted import CountedModule
from brdiv.training.data import RolloutData
from brdiv.training.finite import NotFiniteError
from brdiv.training.module import TeammateGenerator
from brdiv.training.stream import RolloutStream, StreamData

__all__ = ["CountedModule", "NotFiniteError", "RolloutData", "RolloutStream", "StreamData", "TeammateGenerator"]
