"""Processes that train together: how they meet, and how to part."""

from torch import distributed


def port_is_taken(error: RuntimeError) -> bool:
    """Whether processes can't meet because another program has their port."""
    return "EADDRINUSE" in str(error) or "address already in use" in str(error).lower()


def leave_process_group() -> None:
    """Let go of the other processes of a run that all reached its end together.

    Threads of gloo that are still about when the interpreter shuts down abort the process now and then. After an
    error the others may wait inside a collective, where leaving would wait too: then the process just ends.
    """
    if distributed.is_available() and distributed.is_initialized():
        distributed.destroy_process_group()
