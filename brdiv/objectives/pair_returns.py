"""What each pair earns in an episode, as training sees it."""

import torch
from tensordict import TensorDictBase
from torch import Tensor, nn


class PairReturns(nn.Module):
    """Running estimate of the cross-play matrix ``[K, K]`` from the windows that training collects anyway.

    It is the reward a pair was paid over the episodes it ended, both with a fading memory. That needs no sums for
    unfinished episodes, which would have to follow every row from window to window.

    Args:
        n_types: Size of the population, K.
        memory: Updates after which something seen weighs 1 / e.

    """

    paid: Tensor
    ended: Tensor

    def __init__(self, n_types: int, memory: float) -> None:
        super().__init__()
        self.n_types = n_types
        self.memory = memory
        self.register_buffer("paid", torch.zeros(n_types * n_types))
        self.register_buffer("ended", torch.zeros(n_types * n_types))

    @torch.no_grad()
    def observe(self, rollout: TensorDictBase) -> None:
        """Take in a window ``[B, T]``."""
        i, j = rollout["ids"].unbind(-1)
        pair = (i * self.n_types + j).flatten()
        keep = 1.0 - 1.0 / self.memory
        for total, seen in ((self.paid, "reward"), (self.ended, "done")):
            total.mul_(keep).index_add_(0, pair, rollout["next", seen].flatten().to(total.dtype))

    def matrix(self) -> Tensor:
        """Estimate ``[K, K]``; 0 for a pair that has not ended an episode yet."""
        estimate = self.paid / self.ended.clamp(min=1e-6)
        return estimate.where(self.ended > 0, 0.0).view(self.n_types, self.n_types)
