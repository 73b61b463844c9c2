import subprocess
import sys

import pytest

from tests.small_runs import train

TWICE = """
import resource, torch
from brdiv.training.memory import keep_freed_memory
if {keep} and not keep_freed_memory():
    raise SystemExit(3)
def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.zeros(64 << 20, dtype=torch.uint8)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
for _ in range(3):  # until what is freed lies where it is taken from
    faults()
print(faults())
"""


def page_faults_of_64_mebibytes(keep):
    done = subprocess.run([sys.executable, "-c", TWICE.format(keep=keep)], capture_output=True, text=True, check=False)
    if done.returncode == 3:
        pytest.skip("this C library has no such setting")
    return int(done.stdout)


def test_freed_memory_is_used_again():
    assert page_faults_of_64_mebibytes(keep=True) < 20 < page_faults_of_64_mebibytes(keep=False)


def test_a_run_of_any_size_keeps_what_it_frees(tmp_path, monkeypatch):
    kept = []
    monkeypatch.setattr("brdiv.commands.line.cli.keep_freed_memory", lambda: kept.append(True))
    train(tmp_path / "run")
    assert kept == [True]
