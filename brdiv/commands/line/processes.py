"""Processes that train together: when one is lost, and how to part."""

from torch import distributed

TIMEOUT = "Application timeout caused pair closure"  # gloo's words where one operation fails by another's timeout


def another_process_is_gone(error: RuntimeError) -> bool:
    """Whether processes that learn together have lost each other. On CPUs there is no error of its own for that."""
    together = distributed.is_available() and distributed.is_initialized()
    return together and (isinstance(error, distributed.DistError) or "gloo" in str(error) or TIMEOUT in str(error))


def why_it_is_gone(error: RuntimeError) -> str:
    """Tell a process that has ended from one that does not answer."""
    if "timed out" in str(error).lower() or TIMEOUT in str(error):
        return "another process of this run did not answer in time: it is frozen, or far behind"
    return "another process of this run has ended; its own message says why"


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
