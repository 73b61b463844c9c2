"""Best-Response Diversity (Section 4): self-play should pay, cross-play should not."""

from tensordict import TensorDictBase
from torch import Tensor

from brdiv.errors import UserError
from brdiv.metrics import brdiv_slope
from brdiv.objectives.base import Objective, check_not_negative


class BRDiv(Objective):
    """Maximise BRDiv (Eq. 6) through the advantage of Eq. 8, which is linear in the one entry that was played.

    The slopes 2K - 1 and -2 are divided by 2K - 1: a unit of self-play return is worth 1 as in every other method, so
    one entropy bonus and one learning rate serve them all.

    Args:
        cross_play_weight: Factor on the slope of cross-play. 1 is Eq. 6 as written.
        warm_up: Share of the run over which that weight rises from 0, in a line. Where a game takes long to learn at
            all, a team that lags behind earns only with the others' best responses, and would unlearn it.

    """

    cross_play = True

    def __init__(self, cross_play_weight: float = 1.0, warm_up: float = 0.0) -> None:
        super().__init__()
        check_not_negative(cross_play_weight=cross_play_weight)
        if not 0 <= warm_up <= 1:
            raise UserError(f"warm_up is {warm_up}: it must lie between 0 and 1")
        self.cross_play_weight = cross_play_weight
        self.warm_up = warm_up
        self.warmth = 0.0 if warm_up else 1.0

    def observe(self, rollout: TensorDictBase, progress: float) -> None:
        """Let the weight rise."""
        if self.warm_up:
            self.warmth = min(progress / self.warm_up, 1.0)

    def slope(self, ids: Tensor) -> Tensor:
        """1 for self-play, -2 / (2K - 1) times the weight for cross-play."""
        i, j = ids.unbind(-1)
        slope = brdiv_slope(i, j, self.n_types) / (2 * self.n_types - 1)
        return slope.where(i == j, slope * self.cross_play_weight * self.warmth)
