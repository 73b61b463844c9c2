"""The seam between methods: what an objective adds to multi-agent A2C on self-play."""

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from tensordict import TensorDictBase
from torch import Tensor, nn

from brdiv.errors import LARGEST_NUMBER, UserError

if TYPE_CHECKING:
    from brdiv.nets import Population


class Sizes(NamedTuple):
    """What an objective may need to know to build networks or matrices of its own."""

    n_types: int
    observation_size: int
    n_actions: int
    hidden: Sequence[int]  # neurons of the critic's layers


class Objective(nn.Module):
    """Multi-agent A2C on self-play alone; a method overrides what it adds.

    Constructor arguments are kept as attributes of the same name, so that a run can say how it was made. Networks,
    multipliers and estimates of a method are its submodules, parameters and buffers: so they are trained, saved and
    resumed with everything else.
    """

    cross_play: bool = False
    """Whether the method learns from cross-play rows."""

    def __init__(self) -> None:
        super().__init__()
        self.n_types = 0

    @property
    def label(self) -> str:
        """Name in tables and figures, as the paper writes it."""
        return type(self).__name__

    def build(self, sizes: Sizes) -> None:
        """Learn the sizes before training starts, and build what depends on them."""
        self.n_types = sizes.n_types

    def observe(self, rollout: TensorDictBase, progress: float) -> None:
        """Take in the window ``[B, T]`` of an update before its losses; ``progress`` of the run goes from 0 to 1."""

    def slope(self, ids: Tensor) -> Tensor:
        """Say what a unit of return of the pair ``ids [..., 2]`` is worth, ``[...]``; of self-play, about 1."""
        return torch.ones(ids.shape[:-1], device=ids.device)

    def entropy_weight(self, weight: float, ids: Tensor) -> float | Tensor:
        """Say what a unit of entropy of the policies of ``ids [..., 2]`` is worth; for all of them ``weight``."""
        return weight

    def bonus(self, rollout: TensorDictBase) -> Tensor | None:
        """Intrinsic reward ``[B, T]`` on top of the game's, or None."""
        return None

    def auxiliary(self, rollout: TensorDictBase, population: "Population") -> dict[str, Tensor]:
        """Further losses to minimise, by name."""
        return {}

    def after_update(self) -> None:
        """Adapt the objective's own parameters after a gradient step."""

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Give the objective's own parameters to the optimiser, with settings of their own where it needs them."""
        return [{"params": list(self.parameters())}]

    def scalars(self) -> dict[str, Tensor]:
        """Numbers worth watching, by name."""
        return {}

    def settings(self) -> dict[str, Any]:
        """Constructor arguments that build this objective again."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}


def check_not_negative(**settings: float) -> None:
    """Refuse weights by name that are negative, or beyond what float32 multiplies."""
    for name, value in settings.items():
        if not value >= 0:
            raise UserError(f"{name} is {value}: it may not be negative")
        if value > LARGEST_NUMBER:
            raise UserError(f"{name} is {value}: it must be at most {LARGEST_NUMBER:g}")
