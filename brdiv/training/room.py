"""Whether what settings ask for fits this machine, before any of it is made."""

import os

from brdiv.errors import UserError

FLOAT = 4  # bytes


def machine_memory() -> float:
    """Bytes of memory that this machine has; endless where it doesn't say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return float("inf")


def check_room(numbers: int, settings: str) -> None:
    """Refuse settings that need so many float32 numbers at once, if this machine can't hold them."""
    if numbers * FLOAT > machine_memory():
        needed, there = numbers * FLOAT / 2**30, machine_memory() / 2**30
        raise UserError(f"{settings}: that takes at least {needed:,.0f} GiB, and this machine has {there:,.0f}")
