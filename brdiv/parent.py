"""Processes that end with the one that started them: no run goes on, and writes, whose starter is gone.

Imports next to nothing, so that the moment in which a process could be left behind is short.
"""

import ctypes
import os
import signal
import sys

PARENT = "BRDIV_PARENT"  # environment variable: who has started this process and wants it to end too, and how
PR_SET_PDEATHSIG = 1  # of linux/prctl.h


def as_parent(signum: int = signal.SIGKILL) -> dict[str, str]:
    """Return the environment for a child that is to end with this process, by a signal.

    SIGTERM lets it save itself; SIGKILL is for one that would wait for this process for ever.
    """
    return {**os.environ, PARENT: f"{os.getpid()}:{int(signum)}"}


def end_with_parent() -> bool:
    """Have this process end with its parent, if that asked for it; returns whether that was arranged.

    Whoever is started from a shell, by torchrun or by SLURM is left alone. What was asked for is forgotten, so that
    processes which this one starts don't look for its parent.
    """
    pid, _, signum = os.environ.pop(PARENT, "").partition(":")
    if not (pid.isdecimal() and signum.isdecimal()):
        return False
    return end_with(int(pid), int(signum))


def end_with(parent: int, signum: int) -> bool:
    """Have this process sent a signal when its parent ends; returns whether that was arranged, as only Linux can.

    Elsewhere it goes on to its end. A parent that is gone by now, as a process takes a while to start, ends it at once.
    """
    arranged = parent == os.getppid() and hear_of_parents_end(signum)
    if parent != os.getppid() and not is_running(parent):  # looked at last: it may have ended just before
        os._exit(1)
    return arranged


def hear_of_parents_end(signum: int) -> bool:
    """Ask the system for a signal when the parent ends."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        return bool(ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signum, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def is_running(pid: int) -> bool:
    """Whether there is a process of this number; where that can't be asked, there is."""
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except PermissionError:  # of somebody else
        return True
    except (OSError, OverflowError):
        return False
    return True
