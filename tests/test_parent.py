import subprocess
import sys
import time

import pytest

from tests.processes import alive

CHILD = "from brdiv.parent import end_with_parent; import time; print(end_with_parent(), flush=True); time.sleep(60)"
STARTS = """
import os, subprocess, sys
from brdiv.parent import as_parent
environment = as_parent() if sys.argv[2] == "asked" else dict(os.environ)
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]], env=environment, stdout=subprocess.PIPE, text=True)
print(child.pid, child.stdout.readline().strip(), flush=True)
child.wait()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux can end a child with its parent")
@pytest.mark.parametrize("asked", [True, False])
def test_a_killed_parent_takes_along_who_was_asked_to_come(asked):
    command = [sys.executable, "-c", STARTS, CHILD, "asked" if asked else "not asked"]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    pid, arranged = parent.stdout.readline().split()
    assert arranged == str(asked)
    parent.kill()
    parent.communicate()
    time.sleep(0.5)
    try:
        assert alive(int(pid)) != asked
    finally:
        subprocess.run(["kill", "-9", pid], check=False, capture_output=True)
