"""Several processes that train as one."""

from typing import Any

import torch
from torch import Tensor, distributed

TIMEOUT = "Application timeout caused pair closure"  # gloo's words where one operation fails by another's timeout


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


def another_process_is_gone(error: RuntimeError) -> bool:
    """Whether processes that learn together have lost each other. On CPUs there is no error of its own for that."""
    together = distributed.is_available() and distributed.is_initialized()
    return together and (isinstance(error, distributed.DistError) or "gloo" in str(error) or TIMEOUT in str(error))


def why_it_is_gone(error: RuntimeError) -> str:
    """Tell a process that has ended from one that does not answer."""
    if "timed out" in str(error).lower() or TIMEOUT in str(error):
        return "another process of this run did not answer in time: it is frozen, or far behind"
    return "another process of this run has ended; its own message says why"
