import os
import signal
import subprocess
import sys
import time

import pytest
from brdiv.callbacks.signals import StopRequests


def test_a_signal_that_is_passed_on_twice_is_one_request(monkeypatch):
    requests = StopRequests()
    now = [100.0]
    monkeypatch.setattr("brdiv.callbacks.signals.time.monotonic", lambda: now[0])
    for now[0] in (100.0, 100.5, 101.9):
        requests.ask(signal.SIGTERM)
    assert requests.asked == signal.SIGTERM
    now[0] = 105.0
    with pytest.raises(KeyboardInterrupt):
        requests.ask(signal.SIGTERM)


def test_a_signal_that_comes_when_all_is_learned_is_answered_at_once(capfd):
    requests = StopRequests()
    requests.closing = "what is left is to measure"
    requests.ask(signal.SIGTERM)
    assert capfd.readouterr().err == "brdiv: SIGTERM: what is left is to measure; once more ends the run at once\n"


def test_what_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    requests = StopRequests()
    try:
        requests.listen()
        os.kill(os.getpid(), signal.SIGHUP)
        assert not requests.asked
    finally:
        requests.release()
        signal.signal(signal.SIGHUP, before)


WAITING = """
import ctypes
from brdiv.callbacks import signals
signals.ECHO, signals.GRACE = 0.3, 0.3
requests = signals.StopRequests()
requests.listen()
print("ready", flush=True)
lock = ctypes.CDLL(None)
# One long wait inside a library, which a signal does not end: no handler of Python's runs meanwhile.
lock.pthread_mutex_lock.argtypes = [ctypes.c_void_p]
mutex = ctypes.create_string_buffer(64)
lock.pthread_mutex_lock(mutex)
lock.pthread_mutex_lock(mutex)
"""


def test_a_process_that_waits_for_another_ends_with_the_second_signal():
    process = subprocess.Popen([sys.executable, "-c", WAITING], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    try:
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.6)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 128 + signal.SIGTERM
        assert b"was asked twice" in process.stderr.read()
    finally:
        process.kill()
        process.communicate()
