"""What each pair earns in an episode, as training sees it."""

import torch
from tensordict import TensorDictBase
from torch import Tensor, distributed, nn

from brdiv.errors import UserError


def check_memory(memory: float) -> None:
    """Refuse a memory that would forget what it sees."""
    if not memory >= 1:
        raise UserError(f"memory is {memory}: it must be at least 1 update")


class PairReturns(nn.Module):
    """Running estimate of the cross-play matrix ``[K, K]`` from the windows that training collects anyway.

    Rows of mixed play don't count: no pair plays a whole episode there.

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
        """Take in a window ``[B, T]``; of all processes, where there are several."""
        i, j = rollout["ids"].unbind(-1)
        pair = (i * self.n_types + j).flatten()
        counted = ~rollout["mixed"] if "mixed" in rollout.keys() else True  # noqa: SIM118
        fresh = torch.zeros(2, self.n_types**2, device=self.paid.device, dtype=self.paid.dtype)
        for total, seen in zip(fresh, ("reward", "done"), strict=True):
            total.index_add_(0, pair, (rollout["next", seen].squeeze(-1) * counted).flatten().to(total.dtype))
        if distributed.is_available() and distributed.is_initialized():
            distributed.all_reduce(fresh)
        keep = 1.0 - 1.0 / self.memory
        self.paid.mul_(keep).add_(fresh[0])
        self.ended.mul_(keep).add_(fresh[1])

    def matrix(self) -> Tensor:
        """Estimate ``[K, K]``; 0 for a pair that has not ended an episode yet."""
        estimate = self.paid / self.ended.clamp(min=1e-6)
        return estimate.where(self.ended > 0, 0.0).view(self.n_types, self.n_types)
