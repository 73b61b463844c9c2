"""Processes that train together: when one is lost, and how to part."""

from torch import distributed


def another_process_is_gone(error: RuntimeError) -> bool:
    """Whether processes that learn together have lost each other. On CPUs there is no error of its own for that."""
    together = distributed.is_available() and distributed.is_initialized()
    return together and (isinstance(error, distributed.DistError) or "gloo" in str(error))


def leave_process_group() -> None:
    """Let go of the other processes of a run that all reached its end together.

    Threads of gloo that are still about when the interpreter shuts down abort the process now and then. After an
    error the others may wait inside a collective, where leaving would wait too: then the process just ends.
    """
    if distributed.is_available() and distributed.is_initialized():
        distributed.destroy_process_group()
