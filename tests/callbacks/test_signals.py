import ctypes
import os
import signal
import sys
import threading
import time

import pytest
from brdiv.callbacks import signals
from brdiv.callbacks.signals import StopRequests

from tests.processes import forked


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


@pytest.fixture
def not_ignored():
    """Signals that a shell may have ignored, as it does with SIGINT in the background."""
    before = {each: signal.signal(each, signal.SIG_DFL) for each in signals.SIGNALS}
    yield
    for each, handler in before.items():
        signal.signal(each, handler)


def test_signals_are_given_back_and_the_thread_ends(not_ignored):
    threads = set(threading.enumerate())
    requests = StopRequests()
    requests.listen()
    (listening,) = set(threading.enumerate()) - threads
    assert all(signal.getsignal(each) == requests.ask for each in signals.SIGNALS)
    requests.release()
    assert all(signal.getsignal(each) == signal.SIG_DFL for each in signals.SIGNALS)
    assert signal.set_wakeup_fd(-1) == -1
    listening.join(10)
    assert not listening.is_alive()


def test_a_terminal_that_is_gone_keeps_nobody_from_writing(not_ignored, monkeypatch):
    ours, theirs = os.openpty()
    requests = StopRequests()
    with open(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stdout", terminal)
        requests.listen()
        os.close(ours)
        with pytest.raises(OSError, match="Input/output error"):
            os.write(theirs, b"no one hears this")
        os.kill(os.getpid(), signal.SIGHUP)
        print("saved", flush=True)
        requests.release()
    assert requests.asked == signal.SIGHUP


def test_what_is_no_terminal_is_written_to_all_the_same(not_ignored, monkeypatch, tmp_path):
    requests = StopRequests()
    with (tmp_path / "log").open("w") as file:
        monkeypatch.setattr(sys, "stdout", file)
        requests.listen()
        os.kill(os.getpid(), signal.SIGHUP)
        requests.release()
        print("saved", flush=True)
    assert (tmp_path / "log").read_text() == "saved\n"


def wait_inside_a_library(seconds=1e6):
    """One long wait, which a signal does not end: no handler of Python's runs meanwhile."""
    library = ctypes.CDLL(None)
    library.pthread_mutex_timedlock.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    mutex = ctypes.create_string_buffer(64)
    end = time.time() + seconds
    deadline = (ctypes.c_long * 2)(int(end), int(end % 1 * 1e9))
    library.pthread_mutex_timedlock(mutex, deadline)
    library.pthread_mutex_timedlock(mutex, deadline)


def end_slowly():
    """Heed the second signal a little late, and then take longer than a process may that heeds none."""
    try:
        while True:
            wait_inside_a_library(0.2)
    except KeyboardInterrupt:
        time.sleep(2 * signals.GRACE)
        sys.exit(7)


def listen_and(what, log, ready):
    os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT), 2)
    signals.ECHO, signals.GRACE = 0.3, 0.6
    signal.signal(signal.SIGUSR1, lambda *_: None)
    StopRequests().listen()
    os.write(ready, b"ready")
    what()


@pytest.fixture
def listening(not_ignored, tmp_path):
    """Start a process that listens to signals while it does something."""
    started = []

    def start(what):
        ours, theirs = os.pipe()
        started.append(forked(listen_and, what, tmp_path / "log", theirs))
        os.close(theirs)
        assert os.read(ours, 5) == b"ready"
        os.close(ours)
        time.sleep(0.3)
        return started[0]

    yield start
    started[0].kill()
    started[0].join()


def send(process, signum, times, seconds=0.6):
    for _ in range(times):
        os.kill(process.pid, signum)
        process.join(seconds)


def test_a_process_that_waits_for_another_ends_with_the_second_signal(listening, tmp_path):
    process = listening(wait_inside_a_library)
    send(process, signal.SIGTERM, times=1)
    assert process.exitcode is None
    send(process, signal.SIGTERM, times=1, seconds=20)
    assert process.exitcode == 128 + signal.SIGTERM
    assert "was asked twice" in (tmp_path / "log").read_text()


def take_all_for_one():
    signals.ECHO = 600
    wait_inside_a_library()


def test_a_signal_that_is_passed_on_to_who_waits_for_another_is_one_request(listening):
    process = listening(take_all_for_one)
    send(process, signal.SIGTERM, times=3, seconds=0.3)
    process.join(3 * 0.6)  # longer than a process may take that was asked twice
    assert process.exitcode is None


def test_after_the_second_request_signals_do_what_they_did_before(not_ignored):
    requests = StopRequests()
    requests.listen()
    requests.ask(signal.SIGTERM)
    requests.asked_at -= 2 * signals.ECHO
    with pytest.raises(KeyboardInterrupt):
        requests.ask(signal.SIGTERM)
    assert all(signal.getsignal(each) == signal.SIG_DFL for each in signals.SIGNALS)


def test_signals_that_ask_for_something_else_end_nobody(listening):
    process = listening(wait_inside_a_library)
    send(process, signal.SIGTERM, times=1)
    send(process, signal.SIGUSR1, times=1, seconds=1.5)
    assert process.exitcode is None


def test_a_process_that_heeds_the_second_signal_may_take_its_time(listening, tmp_path):
    process = listening(end_slowly)
    send(process, signal.SIGTERM, times=1)
    send(process, signal.SIGTERM, times=1, seconds=20)
    assert process.exitcode == 7
    assert (tmp_path / "log").read_text() == ""
