"""A real cluster of two nodes on this machine, one of which dies."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import pytest
import torch
from safetensors.torch import load_file

from brdiv.commands import main
from brdiv.study.cells import RUNNING
from tests.processes import trainers
from tests.study.small_study import LONG, state_of, write_study

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'brdiv[ray]'")


@pytest.fixture
def cluster(tmp_path):
    from ray.cluster_utils import Cluster

    # The head takes no cells, so that the node that trains can die.
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": 10**8})
    yield made
    made.shutdown()


def add_node(cluster):
    return cluster.add_node(num_cpus=1, object_store_memory=10**8)


def wait_for(condition, process, seconds=400):
    deadline = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.05)


@contextmanager
def frozen(pids):
    """Hold processes still, so that none ends before its time."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):  # it may have died with its node
                os.kill(pid, signal.SIGCONT)


def test_a_cell_whose_node_dies_is_resumed_on_another(cluster, tmp_path):
    first = add_node(cluster)
    file, folder = write_study(tmp_path / "long.yaml", overrides=LONG), tmp_path / "out"
    command = [sys.executable, "-m", "brdiv", "study", str(file), "--folder", str(folder), "--ray", cluster.address]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    run = folder / "cells/reaching/independent/seed1"
    try:
        wait_for(lambda: list(run.glob("checkpoints/step_*.ckpt")), process)
        training = trainers(run)
        assert training, "the run is over already"
        with frozen(training):  # it would take but a second to its end
            assert state_of(folder)["state"] == RUNNING
            add_node(cluster)
            cluster.remove_node(first, allow_graceful=False)
        printed = process.communicate(timeout=400)[0]
    finally:
        process.kill()
    assert process.returncode == 0, printed
    state = state_of(folder)
    assert (state["state"], state["attempts"], state["steps"]) == ("done", 2, 39_936)
    log = (run.parent / "seed1.log").read_text()
    assert int(log.split("--- attempt 2, from step ")[1].split()[0].replace(",", "")) > 0
    alone = ["--config", str(run.parent / "settings.yaml"), "--seed_everything", "1", "--threads", "1"]
    main(["fit", *alone, "--run", str(tmp_path / "alone")])
    ours, theirs = (load_file(path / "population.safetensors") for path in (run, tmp_path / "alone"))
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
