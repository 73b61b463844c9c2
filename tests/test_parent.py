import itertools
import os
import signal
import subprocess
import sys
import time

import pytest

from brdiv import parent
from tests.processes import alive

CHILD = "from brdiv.parent import end_with_parent; import time; print(end_with_parent(), flush=True); time.sleep(60)"
STARTS = """
import os, subprocess, sys
from brdiv.parent import as_parent
environment = as_parent() if sys.argv[2] == "asked" else {**os.environ, **eval(sys.argv[2])}
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]], env=environment, stdout=subprocess.PIPE, text=True)
print(child.pid, child.stdout.readline().strip(), flush=True)
child.wait()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux can end a child with its parent")
@pytest.mark.parametrize(
    "how", ["asked", "{}", "{'BRDIV_PARENT': f'{os.getppid()}:9'}"], ids=["asked", "not asked", "by another"]
)
def test_a_killed_parent_takes_along_who_was_asked_to_come(how):
    asked = how == "asked"
    command = [sys.executable, "-c", STARTS, CHILD, how]
    starter = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    pid, arranged = starter.stdout.readline().split()
    assert arranged == str(asked)
    starter.kill()
    starter.communicate()
    time.sleep(0.5)
    try:
        assert alive(int(pid)) != asked
    finally:
        subprocess.run(["kill", "-9", pid], check=False, capture_output=True)


@pytest.mark.parametrize("when", ["before", "after"])
def test_who_was_asked_by_a_parent_that_ends_just_then_ends_too(when, monkeypatch):
    """The system tells only of ends that come after it was asked to."""
    pids = itertools.chain([7], itertools.repeat(1 if when == "before" else 7))
    monkeypatch.setenv(parent.PARENT, "7:9")
    monkeypatch.setattr(os, "getppid", lambda: next(pids))
    monkeypatch.setattr(parent, "hear_of_parents_end", lambda signum: True)
    monkeypatch.setattr(parent, "is_running", lambda pid: False)
    ended = []
    monkeypatch.setattr(os, "_exit", ended.append)
    assert parent.end_with_parent()
    assert ended == ([1] if when == "before" else [])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux can end a child with its parent")
def test_a_child_may_be_asked_to_save_itself_instead_of_being_killed():
    child = """
import signal, sys, time
from brdiv.parent import end_with_parent
def save(*_):
    print("saved", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
print(end_with_parent(), flush=True)
time.sleep(60)
"""
    start = (
        "import os, signal, subprocess, sys; from brdiv.parent import as_parent; "
        "subprocess.Popen([sys.executable, '-c', sys.argv[1]], env=as_parent(signal.SIGTERM)); "
        "sys.stdin.readline(); os.kill(os.getpid(), 9)"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    starter = subprocess.Popen([sys.executable, "-c", start, child], **pipes, text=True)
    assert starter.stdout.readline() == "True\n"
    said, _ = starter.communicate("end\n", timeout=60)
    assert said == "saved\n"


def test_what_a_parent_asked_for_is_not_passed_on(monkeypatch):
    monkeypatch.setenv(parent.PARENT, f"{os.getppid()}:{int(signal.SIGCHLD)}")
    monkeypatch.setattr(parent, "hear_of_parents_end", lambda signum: signum == signal.SIGCHLD)
    assert parent.end_with_parent()
    assert parent.PARENT not in os.environ


@pytest.mark.parametrize("wrong", ["", "x", "7", "x:9", "7:x", ":", "-7:9"])
def test_what_nobody_can_have_asked_for_is_left_alone(wrong, monkeypatch):
    monkeypatch.setenv(parent.PARENT, wrong)
    monkeypatch.setattr(os, "_exit", lambda code: pytest.fail("it ended"))
    assert not parent.end_with_parent()


def test_a_command_whose_parent_was_killed_while_it_started_does_nothing():
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    command = [sys.executable, "-m", "brdiv", "--version"]
    environment = {**os.environ, parent.PARENT: f"{gone.pid}:9"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")


def test_a_command_sees_to_its_parent_before_it_imports_what_takes_long():
    look = "commands.parent.end_with_parent = lambda: print('torch' in sys.modules)"
    start = f"import sys; from brdiv import commands; {look}; sys.argv = ['brdiv', '--version']; commands.main()"
    command = [sys.executable, "-c", start]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "False"
