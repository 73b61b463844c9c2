"""Several processes that train as one."""

from typing import Any

import torch
from torch import Tensor, distributed


def rank_and_size() -> tuple[int, int]:
    """Rank of this process, and how many there are."""
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return 0, 1


def gather(state: dict[str, Any]) -> list[dict[str, Any]]:
    """Collect on the first rank what every rank has to say, in their order; elsewhere nothing. All must call this."""
    rank, size = rank_and_size()
    if size == 1:
        return [state]
    everyone: list[Any] | None = [None] * size if rank == 0 else None
    distributed.gather_object(state, everyone)
    return everyone or []


def mean_over_ranks(metrics: dict[str, Tensor]) -> dict[str, Tensor]:
    """Average scalars by name over all ranks, in one message. Every rank must call this, with the same names."""
    size = rank_and_size()[1]
    if size == 1 or not metrics:
        return metrics
    means = torch.stack([value.detach().float() for value in metrics.values()]) / size
    distributed.all_reduce(means)
    return dict(zip(metrics, means.unbind(), strict=True))
