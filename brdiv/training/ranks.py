"""Several processes that train as one."""

from typing import Any

from torch import distributed


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
