"""The seam between learners: what a method adds to recurrent PPO."""

import inspect
from typing import Any, NamedTuple

from tensordict import TensorDictBase
from torch import Tensor, nn

from brdiv.recurrent import Output


class LearnerSizes(NamedTuple):
    """What a method may need to know to build networks of its own."""

    observation_size: int
    n_actions: int
    memory: int


class PPO(nn.Module):
    """Recurrent PPO alone; a method overrides what it adds.

    Constructor arguments are kept as attributes of the same name, so that a run can say how it was made. Networks of a
    method are its submodules: so they are trained, saved and resumed with everything else. They are needed in training
    only: a learner's file holds the policy alone.
    """

    def __init__(self) -> None:
        super().__init__()

    @property
    def label(self) -> str:
        """Name in tables and figures."""
        return type(self).__name__

    def build(self, sizes: LearnerSizes) -> None:
        """Learn the sizes before training starts, and build what depends on them."""

    def auxiliary(self, output: Output, rollout: TensorDictBase) -> dict[str, Tensor]:
        """Further losses to minimise, by name, of what the network said of a window ``[B, T]``."""
        return {}

    def settings(self) -> dict[str, Any]:
        """Constructor arguments that build this method again."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}
