"""Processes that end with the one that started them: no run goes on, and writes, whose starter is gone."""

import ctypes
import os
import signal
import sys

PARENT = "BRDIV_PARENT"  # environment variable: the process that has started this one, and wants it to end with itself
PR_SET_PDEATHSIG = 1  # of linux/prctl.h


def as_parent() -> dict[str, str]:
    """Return the environment for a child that is to end with this process."""
    return {**os.environ, PARENT: str(os.getpid())}


def end_with_parent() -> bool:
    """Have this process killed when its parent ends, if the parent asked for it; returns whether that was arranged.

    Only Linux can do that. Whoever is started from a shell, by torchrun or by SLURM is left alone.
    """
    wanted = os.environ.get(PARENT)
    if wanted != str(os.getppid()) or not sys.platform.startswith("linux"):
        return False
    try:
        arranged = ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0
    except (OSError, AttributeError):
        return False
    if wanted != str(os.getppid()):  # it ended just before
        os._exit(1)
    return arranged
