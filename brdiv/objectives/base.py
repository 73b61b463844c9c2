"""The seam between methods: what an objective adds to multi-agent A2C on self-play."""

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from tensordict import TensorDictBase
from torch import Tensor, nn

if TYPE_CHECKING:
    from brdiv.nets import Population


class Objective(nn.Module):
    """Multi-agent A2C on self-play alone; a method overrides what it adds.

    Constructor arguments are kept as attributes of the same name, so that a run can say how it was made. `n_types`
    comes from the population and is set by `attach`.
    """

    cross_play: bool = False
    """Whether the method learns from cross-play rows."""

    def __init__(self) -> None:
        super().__init__()
        self.n_types = 0

    def attach(self, n_types: int) -> None:
        """Learn the population's size before training starts."""
        self.n_types = n_types

    def slope(self, ids: Tensor) -> Tensor:
        """Say what a unit of return of the pair ``ids [..., 2]`` is worth, ``[...]``; of self-play, about 1."""
        return torch.ones(ids.shape[:-1], device=ids.device)

    def bonus(self, rollout: TensorDictBase) -> Tensor | None:
        """Intrinsic reward ``[B, T]`` on top of the game's, or None."""
        return None

    def auxiliary(self, rollout: TensorDictBase, population: "Population") -> dict[str, Tensor]:
        """Further losses to minimise, by name."""
        return {}

    def after_update(self, statistics: Mapping[str, Tensor]) -> None:
        """Adapt the objective's own state after a gradient step; ``statistics`` are the update's losses by name."""

    def settings(self) -> dict[str, Any]:
        """Constructor arguments that build this objective again."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}
