"""L-BRDiv (Rahman et al., 2024): BRDiv as a constrained problem, with a multiplier for every comparison."""

from typing import TYPE_CHECKING, Any

import torch
from tensordict import TensorDictBase
from torch import Tensor, nn

from brdiv.errors import UserError
from brdiv.objectives.base import Objective, Sizes, check_not_negative
from brdiv.objectives.pair_returns import PairReturns, check_memory

if TYPE_CHECKING:
    from brdiv.nets import Population


class LBRDiv(Objective):
    """Maximise self-play, subject to cross-play being worse by a margin than both of the teams it mixes.

    Of the Lagrangian sum_i C_ii + sum_{i != j} a_ij (C_ii - C_ij - margin) + b_ij (C_jj - C_ij - margin) the teams are
    the maximiser and the multipliers a, b >= 0 the minimiser. With all multipliers at 1 it is BRDiv (Eq. 6).

    Args:
        margin: By how much self-play must earn more than cross-play.
        multiplier: Value of every multiplier at the start.
        multiplier_learning_rate: Learning rate of Adam for the multipliers.
        largest_multiplier: Value that no multiplier exceeds.
        cross_play_weight: Factor on the slope of cross-play. 1 is the Lagrangian as written.
        memory: Number of updates over which the pairs' returns are averaged.

    """

    cross_play = True

    def __init__(
        self,
        margin: float = 0.5,
        multiplier: float = 1.0,
        multiplier_learning_rate: float = 1e-3,
        largest_multiplier: float = 10.0,
        cross_play_weight: float = 1.0,
        memory: float = 100.0,
    ) -> None:
        super().__init__()
        check_not_negative(
            margin=margin,
            multiplier=multiplier,
            multiplier_learning_rate=multiplier_learning_rate,
            cross_play_weight=cross_play_weight,
        )
        if not largest_multiplier >= multiplier:
            raise UserError(f"largest_multiplier is {largest_multiplier}: below multiplier, {multiplier}")
        check_memory(memory)
        self.margin = margin
        self.multiplier = multiplier
        self.multiplier_learning_rate = multiplier_learning_rate
        self.largest_multiplier = largest_multiplier
        self.cross_play_weight = cross_play_weight
        self.memory = memory

    @property
    def label(self) -> str:
        """With the dash of its paper."""
        return "L-BRDiv"

    def build(self, sizes: Sizes) -> None:
        """Start the multipliers ``[2, K, K]``: against the teammate's own team, and the best response's own."""
        super().build(sizes)
        off_diagonal = 1.0 - torch.eye(self.n_types)
        self.multipliers = nn.Parameter(self.multiplier * off_diagonal.repeat(2, 1, 1))
        self.returns = PairReturns(self.n_types, self.memory)

    def observe(self, rollout: TensorDictBase, progress: float) -> None:
        """Follow what the pairs earn."""
        self.returns.observe(rollout)

    def slope(self, ids: Tensor) -> Tensor:
        """The Lagrangian's slope in C_ij, over its mean slope in self-play."""
        slopes = lagrangian_slopes(self.multipliers.detach())
        own = slopes.diagonal().mean()
        slopes = torch.where(slopes < 0, self.cross_play_weight * slopes, slopes) / own
        return slopes[ids[..., 0], ids[..., 1]]

    def auxiliary(self, rollout: TensorDictBase, population: "Population") -> dict[str, Tensor]:
        """The Lagrangian as a function of the multipliers: its gradient is by how much each constraint holds."""
        slack = constraint_slack(self.returns.matrix(), self.margin)
        return {"lagrangian": (self.multipliers * slack).sum()}

    @torch.no_grad()
    def after_update(self) -> None:
        """Bring the multipliers back to where they may be."""
        self.multipliers.clamp_(0.0, self.largest_multiplier)

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Let the multipliers learn at their own rate."""
        return [{"params": [self.multipliers], "lr": self.multiplier_learning_rate}]

    def scalars(self) -> dict[str, Tensor]:
        """How hard the constraints press, and how many are broken."""
        pairs = self.n_types * (self.n_types - 1)
        multipliers, slack = self.multipliers.detach(), constraint_slack(self.returns.matrix(), self.margin)
        return {
            "mean_multiplier": multipliers.sum() / (2 * pairs),
            "largest_multiplier": multipliers.max(),
            "broken_constraints": (slack < 0).sum() / (2 * pairs),
        }


def constraint_slack(cross_play: Tensor, margin: float) -> Tensor:
    """By how much ``[2, K, K]`` each C_ij stays below C_ii, and below C_jj, less the margin; 0 on the diagonal."""
    own = cross_play.diagonal()
    slack = torch.stack([own[:, None] - cross_play, own[None, :] - cross_play]) - margin
    return slack * (1.0 - torch.eye(len(own), device=own.device))


def lagrangian_slopes(multipliers: Tensor) -> Tensor:
    """Slope ``[K, K]`` of the Lagrangian in each C_ij, for multipliers ``[2, K, K]``."""
    teammate, response = multipliers
    own = 1.0 + teammate.sum(1) + response.sum(0)
    return torch.diag(own) - teammate - response
