"""Processes that end with the one that started them: no run goes on, and writes, whose starter is gone.

Imports next to nothing, so that the moment in which a process could be left behind is short.
"""

import ctypes
import os
import signal
import sys

PARENT = "BRDIV_PARENT"  # environment variable: the process that has started this one, and wants it to end with itself
PR_SET_PDEATHSIG = 1  # of linux/prctl.h


def as_parent() -> dict[str, str]:
    """Return the environment for a child that is to end with this process."""
    return {**os.environ, PARENT: str(os.getpid())}


def hear_of_parents_end(signum: int) -> bool:
    """Have this process sent a signal when its parent ends; returns whether that was arranged, as only Linux can."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        return bool(ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signum, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def end_with_parent() -> bool:
    """Have this process killed when its parent ends, if the parent asked for it; returns whether that was arranged.

    Whoever is started from a shell, by torchrun or by SLURM is left alone.
    """
    wanted = os.environ.get(PARENT)
    if wanted != str(os.getppid()):
        return False
    arranged = hear_of_parents_end(signal.SIGKILL)
    if arranged and wanted != str(os.getppid()):  # it ended just before
        os._exit(1)
    return arranged
