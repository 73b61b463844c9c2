"""Threads: no more than cores, and asleep while they wait."""

import gc
import json
import os
import subprocess
import sys

import pytest
import torch

from brdiv.commands import main
from brdiv.commands.line import cores
from brdiv.commands.line.cores import usable_cores
from brdiv.commands.line.many import share_cores
from tests.small_runs import train

estimate = cores.busy_elsewhere  # before it is replaced for the tests


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A made-up machine of 16 cores; returns where its /proc and /sys/fs/cgroup are."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)))
    return tmp_path / "proc", tmp_path / "cgroup"


def test_without_control_groups_affinity_counts(machine):
    assert usable_cores(*machine) == 16


@pytest.mark.parametrize(
    ("limit", "expected"),
    [("max 100000", 16), ("400000 100000", 4), ("150000 100000", 2), ("10000 100000", 1), ("9900000 100000", 16)],
)
def test_a_quota_of_version_2_counts_in_whole_cores(limit, expected, machine):
    proc, groups = machine
    write(proc / "self/cgroup", "0::/job/step\n")
    write(groups / "job/step/cpu.max", limit)
    assert usable_cores(proc, groups) == expected


def test_a_quota_around_the_own_group_counts_too(machine):
    proc, groups = machine
    write(proc / "self/cgroup", "0::/job/step\n")
    write(groups / "job/cpu.max", "300000 100000")
    write(groups / "job/step/cpu.max", "max 100000")
    assert usable_cores(proc, groups) == 3


@pytest.mark.parametrize(("quota", "expected"), [("-1", 16), ("200000", 2)])
def test_a_quota_of_version_1(quota, expected, machine):
    proc, groups = machine
    write(proc / "self/cgroup", "5:memory:/x\n4:cpu,cpuacct:/docker/abc\n")
    write(groups / "cpu/cpu.cfs_quota_us", quota)  # in a container, the host's path is not to be seen
    write(groups / "cpu/cpu.cfs_period_us", "100000")
    assert usable_cores(proc, groups) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [("6.10 3.0 2.0 5/321 77", 4.0), ("1.50 3.0 2.0 9/321 77", 1.5), ("0.0 0.0 0.0 1/99 7", 0.0), ("", 0.0)],
)
def test_others_are_busy_if_this_minute_and_this_moment_say_so(line, expected, machine):
    proc, _ = machine
    write(proc / "loadavg", line)
    assert estimate(proc) == expected


@pytest.fixture
def _two_threads():
    gc.collect()  # environments of earlier tests that are let go of set threads, too
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(1)


@pytest.mark.usefixtures("_two_threads")
def test_fit_takes_no_more_threads_than_cores_and_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    train(tmp_path / "run", "--threads", "8", steps=128)
    assert torch.get_num_threads() == 1
    assert "brdiv: threads is 8: this process may use 1 core" in capsys.readouterr().err


@pytest.mark.usefixtures("_two_threads")
@pytest.mark.parametrize("command", ["show", "play", "evaluate"])
def test_every_command_that_plays_takes_no_more_threads_than_cores(command, tmp_path, monkeypatch, capsys):
    run = str(train(tmp_path / "run", steps=128))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    torch.set_num_threads(2)  # the run above has taken one
    arguments = {"show": [run], "play": [f"{run}:1", "random"], "evaluate": [run, "--out", str(tmp_path / "out")]}
    main([command, *arguments[command], "--episodes", "1", "--threads", "8"])
    assert torch.get_num_threads() == 1
    assert "brdiv: threads is 8: this process may use 1 core" in capsys.readouterr().err


def test_no_more_runs_are_trained_at_a_time_than_there_are_cores(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    given = {}
    monkeypatch.setattr("brdiv.study.many.train_seeds", lambda *args: given.update(jobs=args[3]) or iter(()))
    monkeypatch.setattr("brdiv.evaluation.tables.print_seeds", list)
    main(["seeds", "--config", "reaching", "--jobs", "8", "--folder", str(tmp_path)])
    assert given == {"jobs": 1}
    assert "jobs is 8" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("cores", "jobs", "runs", "shared"),
    [(8, None, 20, (8, 1)), (8, None, 3, (3, 2)), (8, 2, 20, (2, 4)), (2, None, 1, (1, 2)), (2, 1, 5, (1, 2))],
)
@pytest.mark.usefixtures("_two_threads")
def test_runs_share_all_cores(cores, jobs, runs, shared, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    monkeypatch.setattr("brdiv.commands.line.cores.quotas", lambda *_: [])
    assert share_cores(jobs, runs) == shared


def test_a_crowded_machine_is_mentioned_in_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(cores, "busy_elsewhere", lambda: 3.0 * (os.cpu_count() or 1))
    train(tmp_path / "run", steps=128)
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "crowded" in line]
    assert f"others keep about {3 * (os.cpu_count() or 1)} of its {os.cpu_count()} cores busy" in line


def test_a_quiet_machine_is_not(tmp_path, capsys):
    train(tmp_path / "run", steps=128)
    assert "crowded" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("own", "busy", "policy"),
    [
        ({}, 99.0, "PASSIVE"),
        ({}, 0.0, None),
        ({"OMP_WAIT_POLICY": "ACTIVE"}, 99.0, "ACTIVE"),
        ({"GOMP_SPINCOUNT": "99"}, 99.0, None),
    ],
)
def test_on_a_crowded_machine_threads_wait_asleep_unless_told_otherwise(own, busy, policy):
    code = (
        f"""
import brdiv.commands.line.cores
brdiv.commands.line.cores.busy_elsewhere = lambda: {busy}
"""
        + """
import json, os, sys
import brdiv.commands, brdiv.commands.show
def show(file: str) -> None:
    '''Say it.

    Args:
        file: A name.

    '''
    print(json.dumps(['torch' in sys.modules, os.environ.get('OMP_WAIT_POLICY')]))
brdiv.commands.show.show = show
brdiv.commands.main(['show', 'x'])
"""
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    done = subprocess.run([sys.executable, "-c", code], env={**kept, **own}, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [False, policy]
