"""Best-Response Diversity (Section 4): self-play should pay, cross-play should not."""

from torch import Tensor

from brdiv.metrics import brdiv_slope
from brdiv.objectives.base import Objective


class BRDiv(Objective):
    """Maximise BRDiv (Eq. 6) through the advantage of Eq. 8, which is linear in the one entry that was played.

    The slopes 2K - 1 and -2 are divided by 2K - 1: a unit of self-play return is worth 1 as in every other method, so
    one entropy bonus and one learning rate serve them all.

    Args:
        cross_play_weight: Multiplies the slope of cross-play. 1 is Eq. 6 as written.

    """

    cross_play = True

    def __init__(self, cross_play_weight: float = 1.0) -> None:
        super().__init__()
        if cross_play_weight < 0:
            raise ValueError(f"cross_play_weight is {cross_play_weight}: it may not be negative")
        self.cross_play_weight = cross_play_weight

    def slope(self, ids: Tensor) -> Tensor:
        """1 for self-play, -2 / (2K - 1) times the weight for cross-play."""
        i, j = ids.unbind(-1)
        slope = brdiv_slope(i, j, self.n_types) / (2 * self.n_types - 1)
        return slope.where(i == j, slope * self.cross_play_weight)
