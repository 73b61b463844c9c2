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
    """Collect what every rank has to say, in their order. Every rank must call this."""
    everyone: list[Any] = [state]
    if rank_and_size()[1] > 1:
        everyone = [None] * rank_and_size()[1]
        distributed.all_gather_object(everyone, state)
    return everyone


def mean_over_ranks(metrics: dict[str, Tensor]) -> dict[str, Tensor]:
    """Average scalars by name over all ranks, in one message. Every rank must call this, with the same names."""
    size = rank_and_size()[1]
    if size == 1 or not metrics:
        return metrics
    means = torch.stack([value.detach().float() for value in metrics.values()]) / size
    distributed.all_reduce(means)
    return dict(zip(metrics, means.unbind(), strict=True))
