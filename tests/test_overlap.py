import os
import signal
import subprocess
import sys
import time
from functools import partial

import pytest
import torch

from brdiv.cli import main
from brdiv.data import RolloutData, make_alone
from brdiv.envs import Gymnasium, Reaching
from brdiv.nets import Population
from brdiv.overlap import OverlappedCollector
from brdiv.pairings import Pairing
from tests.processes import alive, children, wait_for_a_checkpoint

CPU = torch.device("cpu")
make = partial(make_alone, Reaching(), Pairing(3, 2, 4), 5)


def population():
    torch.manual_seed(0)
    return Population(3, Reaching().observation_size, Reaching.n_actions, [8], gain=1.0)


def always(actor, action):
    with torch.no_grad():
        actor.layers[-1].bias.zero_()[..., action] = 1e6


def test_windows_are_those_of_the_collector_it_runs():
    actor = population()
    alone, ahead = iter(make(actor, [7])), iter(OverlappedCollector(make, actor, [7], CPU))
    for _ in range(5):
        assert (next(alone) == next(ahead)).all()
    ahead.close()


def test_windows_are_played_by_the_weights_of_one_update_ago():
    actor = population()
    always(actor, 0)
    windows = iter(OverlappedCollector(make, actor, [7], CPU))
    played = []
    for action in (1, 2, 3):
        window = next(windows)
        played.append(window["agents", "action"].unique().tolist())
        always(actor, action)
    windows.close()
    assert played == [[0], [0], [1]]


def test_a_window_stays_as_it_is_while_the_next_one_is_played():
    windows = iter(OverlappedCollector(make, population(), [7], CPU))
    window = next(windows)
    before = window.clone()
    time.sleep(0.5)
    assert (window == before).all()
    windows.close()


@pytest.mark.parametrize("idle", [0.0, 0.5], ids=["at work", "waiting"])
def test_a_process_that_dies_ends_the_run_soon(idle):
    collector = OverlappedCollector(make, population(), [7], CPU)
    windows = iter(collector)
    next(windows)
    time.sleep(idle)
    os.kill(collector.worker.pid, signal.SIGKILL)
    began = time.monotonic()
    with pytest.raises(RuntimeError, match="died"):
        [next(windows) for _ in range(3)]
    assert time.monotonic() - began < 20


def test_a_signal_to_all_processes_still_saves_a_checkpoint(tmp_path):
    """As batch systems send it; the process that plays must not die of it before the one that learns has saved."""
    command = [sys.executable, "-m", "brdiv", "fit", "--config", "reaching", "--data.overlap", "true"]
    command += ["--run", str(tmp_path / "run"), "--checkpoints.every", "20_000", "--threads", "1"]
    process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE, text=True)
    wait_for_a_checkpoint(process, tmp_path / "run")
    others = children(process)
    assert others
    os.killpg(process.pid, signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM, err
    assert "go on with" in err
    time.sleep(1.0)
    assert not any(alive(pid) for pid in others)


def fail(actor, seed):
    raise ValueError("no such kitchen")


def test_what_goes_wrong_there_is_told_here():
    with pytest.raises(RuntimeError, match="no such kitchen"):
        next(iter(OverlappedCollector(fail, population(), [7], CPU)))


def test_a_run_trains_and_goes_on(tmp_path, capsys):
    arguments = ["fit", "--config", "reaching", "--run", str(tmp_path / "run"), "--data.overlap", "true"]
    arguments += ["--model.hidden", "[8]", "--cross_play.final_episodes", "2", "--plastic.episodes", "1"]
    main([*arguments, "--data.steps", "12800"])
    main([*arguments, "--data.steps", "25600", "--ckpt_path", "last"])
    main([*arguments, "--data.steps", "38400", "--ckpt_path", "last", "--data.overlap", "false"])
    assert (tmp_path / "run" / "population.safetensors").exists()
    assert "38,400" in capsys.readouterr().out


def test_other_peoples_environments_are_refused():
    game = Gymnasium("lbforaging:Foraging-6x6-2p-3f-coop-v3")
    with pytest.raises(ValueError, match="overlap"):
        RolloutData(game, 2, overlap=True)
