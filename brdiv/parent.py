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

    Whoever is started from a shell, by torchrun or by SLURM is left alone. A parent that is gone by now, as a process
    takes a while to start, ends this one at once.
    """
    wanted = os.environ.get(PARENT)
    if wanted is None:
        return False
    arranged = wanted == str(os.getppid()) and hear_of_parents_end(signal.SIGKILL)
    if wanted != str(os.getppid()) and not is_running(wanted):  # looked at last: it may have ended just before
        os._exit(1)
    return arranged


def is_running(pid: str) -> bool:
    """Whether there is a process of this number; where that can't be asked, there is."""
    if os.name != "posix":
        return True
    try:
        os.kill(int(pid), 0)
    except PermissionError:  # of somebody else
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return True
