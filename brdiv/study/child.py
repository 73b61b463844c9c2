"""`python -m brdiv.study.child fit ...` is `brdiv fit ...` in a process that doesn't outlive the one that started it.

Imports next to nothing, so that the moment in which it could be left behind is short.
"""

import os
import runpy
import signal
import sys

from brdiv.parent import hear_of_parents_end

PARENT = "BRDIV_STUDY_PARENT"  # pid of the process to die with


def die_with(parent: int) -> None:
    """Have this process asked to stop, which leaves a checkpoint, as soon as its parent is gone: on Linux.

    Elsewhere it goes on to its end, and holds its cell's lock until then.
    """
    hear_of_parents_end(signal.SIGTERM)
    if os.getppid() != parent:  # gone already
        sys.exit(128 + signal.SIGTERM)


if __name__ == "__main__":
    # Taken out, so that processes which this one starts itself, other ranks of its run, don't look for that parent.
    parent = os.environ.pop(PARENT, None)
    if parent is not None:
        die_with(int(parent))
    sys.argv[0] = "brdiv"
    runpy.run_module("brdiv", run_name="__main__")
