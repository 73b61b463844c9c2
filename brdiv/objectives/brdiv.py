"""Best-Response Diversity (Section 4): self-play should pay, cross-play should not."""

import torch
from tensordict import TensorDictBase
from torch import Tensor

from brdiv.errors import LEAST_NUMBER, UserError
from brdiv.metrics import brdiv_slope
from brdiv.objectives.base import Objective, Sizes, check_not_negative
from brdiv.objectives.pair_returns import PairReturns, check_memory


class BRDiv(Objective):
    """Maximise BRDiv (Eq. 6) through the advantage of Eq. 8, which is linear in the one entry that was played.

    The slopes 2K - 1 and -2 are divided by 2K - 1: a unit of self-play return is worth 1 as in every other method, so
    one entropy bonus and one learning rate serve them all.

    With a `pressure`, the weight of cross-play is not that of Eq. 6 but follows the teams: whoever can't play yet is
    left alone, and whoever can is pushed away from others who can. Pressures are shares of the balance, the weight at
    which two teams gain nothing by sharing a strategy (docs/diversity.md).

    Args:
        cross_play_weight: Factor on the slope of cross-play, all through the run. 1 is Eq. 6 as written.
        pressure: Share of the balance at which two teams that play perfectly are pushed apart in the end, in place of
            a constant factor. About 1; none keeps the constant factor.
        early_pressure: Share of the balance at which all teams are pushed apart from the first step on.
        rise: Share of the run over which pressure rises from the one to the other, in a line.
        patience: How long a team is left alone while it learns: pressure goes with this power of its competence.
        tolerance: Share of its own return that a team may earn with another's best response: up to half of that nobody
            is pushed, from all of it on in full. Where it is 0, teams are pushed until they earn nothing.
        extra_pressure: How much harder teams are pushed that can stand in for each other: so much of the pressure is
            added where one earns with the other's best response all that it earns with its own.
        seeking_entropy: Entropy weight of a team that earns nothing yet, where that is more than the model's own; it
            falls to 0 as the team comes to earn half of the full return. So nobody stops to explore before it has
            found a strategy.
        full_return: Return of an episode that is played perfectly. How much of it a team earns is its competence.
        memory: Number of updates over which the returns of pairs are averaged, to know what teams earn.

    """

    cross_play = True

    def __init__(
        self,
        cross_play_weight: float = 1.0,
        pressure: float | None = None,
        early_pressure: float = 0.0,
        rise: float = 0.2,
        patience: float = 2.0,
        tolerance: float = 0.0,
        extra_pressure: float = 0.0,
        seeking_entropy: float = 0.0,
        full_return: float = 1.0,
        memory: float = 200.0,
    ) -> None:
        super().__init__()
        check_not_negative(
            cross_play_weight=cross_play_weight,
            pressure=pressure or 0.0,
            early_pressure=early_pressure,
            patience=patience,
            tolerance=tolerance,
            extra_pressure=extra_pressure,
            seeking_entropy=seeking_entropy,
        )
        if not 0 <= rise <= 1:
            raise UserError(f"rise is {rise}: it must lie between 0 and 1")
        if not LEAST_NUMBER < full_return < float("inf"):
            raise UserError(f"full_return is {full_return}: it must be a positive number")
        check_memory(memory)
        self.cross_play_weight = cross_play_weight
        self.pressure = pressure
        self.early_pressure = early_pressure
        self.rise = rise
        self.patience = patience
        self.tolerance = tolerance
        self.extra_pressure = extra_pressure
        self.seeking_entropy = seeking_entropy
        self.full_return = full_return
        self.memory = memory
        self.returns: PairReturns | None = None
        self.slopes: Tensor | None = None  # [K, K] of this update, where there is a pressure
        self.shares: Tensor | None = None  # [K] of the full return that teams earn, likewise

    def build(self, sizes: Sizes) -> None:
        """Start to follow what pairs earn, where there is a pressure."""
        super().build(sizes)
        if self.pressure is not None:
            self.returns = PairReturns(self.n_types, self.memory)

    def observe(self, rollout: TensorDictBase, progress: float) -> None:
        """Follow what pairs earn, and let the pressure on each of them follow it."""
        if self.pressure is None or self.returns is None:
            return
        self.returns.observe(rollout)
        risen = min(progress / self.rise, 1.0) if self.rise else 1.0
        matrix = self.returns.matrix() / self.full_return
        self.shares = matrix.diagonal().clamp(0.0, 1.0)
        skill = competence(self.shares)
        pressures = self.early_pressure + (self.pressure - self.early_pressure) * risen * skill**self.patience
        shared = overlap(matrix)
        pressures = pressures * sets_in(shared, self.tolerance) * (1.0 + self.extra_pressure * shared)
        self.slopes = pressure_slopes(pressures, rollout["ids"][:, 0])

    def slope(self, ids: Tensor) -> Tensor:
        """1 for self-play; for cross-play -2 / (2K - 1) times its weight, or what the pressure on the pair says."""
        i, j = ids.unbind(-1)
        if self.slopes is not None:
            return self.slopes[i, j]
        slope = brdiv_slope(i, j, self.n_types) / (2 * self.n_types - 1)
        return slope.where(i == j, slope * self.cross_play_weight)

    def entropy_weight(self, weight: float, ids: Tensor) -> float | Tensor:
        """``weight``, or for teams that seek a strategy what that is worth, ``[..., 2]``."""
        if not self.seeking_entropy or self.shares is None:
            return weight
        return (self.seeking_entropy * (1.0 - 2.0 * self.shares)).clamp(min=weight)[ids]

    def scalars(self) -> dict[str, Tensor]:
        """How hard cross-play is pressed, in units of Eq. 6."""
        if self.slopes is None:
            return {}
        others = (self.slopes.sum() - self.n_types) / (self.n_types * (self.n_types - 1))
        return {"cross_play_weight": -others * (2 * self.n_types - 1) / 2}


def competence(shares: Tensor) -> Tensor:
    """How well ``[K, K]`` the worse of two teams plays, from 0 to 1, by their ``shares [K]`` of the full return."""
    return torch.minimum(shares[:, None], shares[None, :])


def overlap(matrix: Tensor, least: float = 0.05) -> Tensor:
    """How much ``[K, K]`` two teams have in common, from 0 to 1, by what all pairs earn, ``matrix [K, K]``.

    It is what the better of the two ways to mix them earns, as a share of what the worse of the two teams does. Teams
    below ``least`` count as if they earned that: by so little, nobody can tell.
    """
    mixed = torch.maximum(matrix, matrix.T)
    return (mixed / competence(matrix.diagonal()).clamp(least, 1.0)).clamp(0.0, 1.0)


def sets_in(shared: Tensor, tolerance: float) -> Tensor:
    """Share ``[K, K]`` of the pressure that teams feel who have so much in common, ``shared [K, K]``."""
    if not tolerance:
        return torch.ones_like(shared)
    return (2.0 * shared / tolerance - 1.0).clamp(0.0, 1.0)


def pressure_slopes(pressures: Tensor, ids: Tensor) -> Tensor:
    """Slopes ``[K, K]`` for the ``pressures [K, K]`` on pairs, given the ``ids [B, 2]`` of all rows.

    At the balance, a pressure of 1, what a team earns in the rows in which it plays with another's best response costs
    it as much as it gains by earning the same in self-play: with S rows of self-play and X of cross-play these are
    X / (K (K - 1)) and S / K, so the slope of cross-play is -(K - 1) S / X. Of Eq. 6 that is S (K - 1) (2K - 1) / (2X)
    times as much.
    """
    own = (ids[:, 0] == ids[:, 1]).sum()
    balance = (len(pressures) - 1) * own / (len(ids) - own).clamp(min=1)
    diagonal = torch.eye(len(pressures), dtype=torch.bool, device=pressures.device)
    return (-balance * pressures).masked_fill(diagonal, 1.0)
