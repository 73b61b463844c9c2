"""Two processes on one machine, by gloo: the same mathematics as one, one set of files, and no one left behind."""

import contextlib
import gc
import os
import signal
import subprocess
import sys
import time

import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch import distributed, multiprocessing
from torch.nn.parallel import DistributedDataParallel

from brdiv.commands import main
from brdiv.objectives import LBRDiv
from brdiv.runs import read_checkpoint
from brdiv.training import TeammateGenerator
from brdiv.training.ranks import gather
from tests.objectives.rollouts import random_rollout
from tests.processes import alive, children, wait_for_a_checkpoint
from tests.runs.killed_runs import assert_same_population, killed_after

ROWS = 64  # of both processes together


def make_module():
    torch.manual_seed(0)
    return TeammateGenerator(6, 5, LBRDiv(), n_types=3, hidden=[16], policy_gain=1.0)


class Losses(torch.nn.Module):
    """What DDP wraps: losses as a forward pass."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, rollout):
        return torch.stack(list(self.module.losses(rollout, 0.01).values())).sum()


def gradients_of(rank):
    rollout = random_rollout(torch.Generator().manual_seed(0), 3, rows=(ROWS // 4, ROWS * 3 // 4))
    module = make_module()
    module.objective.observe(rollout[rank::2], 0.0)
    parallel = DistributedDataParallel(Losses(module))
    parallel(rollout[rank::2]).backward()
    return {n: p.grad.clone() for n, p in module.named_parameters() if p.grad is not None}


def work_of_a_rank(rank, folder):
    distributed.init_process_group("gloo", init_method=f"file://{folder / 'meet'}", rank=rank, world_size=2)
    gradients = gradients_of(rank)
    gathered = gather({"rank": rank, "clock": torch.arange(rank + 1)})
    torch.save({"gradients": gradients, "gathered": gathered}, folder / f"rank{rank}")
    gc.collect()  # what is let go of after the group is gone may wait for the other process for ever
    distributed.barrier()
    distributed.destroy_process_group()


@pytest.fixture(scope="module")
def two_ranks(tmp_path_factory):
    """What each of two processes that learn together has to show."""
    folder = tmp_path_factory.mktemp("ranks")
    multiprocessing.spawn(work_of_a_rank, (folder,), nprocs=2)
    return [torch.load(folder / f"rank{rank}") for rank in range(2)]


def test_what_ranks_say_of_their_play_is_sent_to_the_first_alone(two_ranks):
    first, second = (rank["gathered"] for rank in two_ranks)
    assert [said["rank"] for said in first] == [0, 1]
    assert [said["clock"].tolist() for said in first] == [[0], [0, 1]]
    assert second == []


def test_two_processes_have_the_gradients_of_one_on_all_their_rows(two_ranks):
    ranks = [rank["gradients"] for rank in two_ranks]
    rollout = random_rollout(torch.Generator().manual_seed(0), 3, rows=(ROWS // 4, ROWS * 3 // 4))
    module = make_module()
    module.objective.observe(rollout, 0.0)
    Losses(module)(rollout).backward()
    for name, parameter in module.named_parameters():
        if parameter.grad is not None:
            assert torch.equal(ranks[0][name], ranks[1][name])
            assert torch.allclose(ranks[0][name], parameter.grad, atol=1e-6), name


WATCH = """
import atexit, hashlib, pathlib
import torch
from lightning import Callback

class Digest(Callback):
    def on_train_batch_end(self, trainer, module, outputs, *_):
        with open(f"losses{trainer.global_rank}.txt", "a") as file:
            print(module.env_steps, float(outputs["loss"]), file=file)

    def on_train_end(self, trainer, module):
        left = pathlib.Path(f"left{trainer.global_rank}.txt")
        atexit.register(lambda: left.write_text(str(not torch.distributed.is_initialized())))
        weights = b"".join(p.detach().numpy().tobytes() for p in module.parameters())
        pathlib.Path(f"rank{trainer.global_rank}.txt").write_text(
            f"{hashlib.sha256(weights).hexdigest()} {trainer.world_size} {module.env_steps} {torch.get_num_threads()}"
        )
"""
TWO = ["--trainer.accelerator", "cpu", "--trainer.strategy", "ddp", "--trainer.devices", "2", "--threads", "1"]
SMALL = ["--model.hidden", "[8]", "--data.self_play_rows", "4", "--data.cross_play_rows", "4"]
SMALL += ["--cross_play.final_episodes", "2", "--plastic.episodes", "1"]
SMALL += ["--checkpoints.keep", "99", "--trainer.log_every_n_steps", "1"]
UPDATE = 2 * 8 * 8  # steps of both ranks


def brdiv(folder, *arguments, **kwargs):
    command = [sys.executable, "-m", "brdiv", *arguments]
    return subprocess.Popen(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **kwargs)


def finish(process, seconds=300):
    out, _ = process.communicate(timeout=seconds)
    assert process.returncode == 0, out
    return out


@pytest.fixture(scope="module")
def run_of_two(tmp_path_factory):
    """The folder in which two processes trained, and what they printed."""
    folder = tmp_path_factory.mktemp("two")
    (folder / "watching.py").write_text(WATCH)
    options = [*TWO, *SMALL, "--data.steps", str(UPDATE * 6 + 5), "--checkpoints.every", str(UPDATE * 2)]
    options += ["--cross_play.every", str(UPDATE * 3), "--trainer.callbacks+=watching.Digest"]
    return folder, finish(brdiv(folder, "fit", "--config", "reaching", "--config", "methods/lbrdiv", *options))


def test_logged_losses_are_means_over_processes(run_of_two):
    folder, _ = run_of_two
    events = EventAccumulator(str(folder / "runs" / "reaching-lbrdiv-seed0")).Reload()
    logged = {}
    for tag in events.Tags()["scalars"]:
        for event in events.Scalars(tag) if tag.startswith("loss/") else []:
            logged[event.step] = logged.get(event.step, 0.0) + event.value
    seen = [[line.split() for line in (folder / f"losses{rank}.txt").read_text().splitlines()] for rank in range(2)]
    means = {int(first[0]): (float(first[1]) + float(second[1])) / 2 for first, second in zip(*seen, strict=True)}
    assert any(first[1] != second[1] for first, second in zip(*seen, strict=True))  # there was something to average
    assert logged == pytest.approx({UPDATE * k: means[UPDATE * k] for k in range(1, 7)}, abs=1e-5)


def test_a_run_on_two_processes_is_one_run_and_resumes(run_of_two):
    tmp_path, out = run_of_two
    ranks = [(tmp_path / f"rank{rank}.txt").read_text().split() for rank in range(2)]
    assert ranks[0] == ranks[1]
    assert ranks[0][1:] == ["2", str(UPDATE * 6), "1"]
    assert out.count("mean diagonal") == 1
    (run,) = (tmp_path / "runs").iterdir()
    assert len(list(run.glob("events.out.tfevents*"))) == 1
    lines = (run / "cross_play.csv").read_text().splitlines()
    assert len(lines) == 1 + 4 * 16  # early, after 3 and 6 updates, and at the end
    again = killed_after(run, UPDATE * 2, tmp_path / "killed")
    finish(brdiv(tmp_path, "fit", "--config", str(again / "config.yaml"), "--run", str(again), "--ckpt_path", "last"))
    assert_same_population(run, again)


def test_torchrun_starts_the_processes_as_well(tmp_path):
    (tmp_path / "watching.py").write_text(WATCH)
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", "--master_port", "29517"]
    command += ["-m", "--", "brdiv", "fit", "--config", "reaching", *TWO, *SMALL, "--data.steps", str(UPDATE * 3)]
    command += ["--run", "run", "--trainer.callbacks+=watching.Digest"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    ranks = [(tmp_path / f"rank{rank}.txt").read_text().split() for rank in range(2)]
    assert ranks[0] == ranks[1]
    assert ranks[0][1:] == ["2", str(UPDATE * 3), "1"]
    assert (tmp_path / "run" / "population.safetensors").exists()
    # A process that shuts down with gloo's threads still about is aborted, rarely: so it must not.
    assert [(tmp_path / f"left{rank}.txt").read_text() for rank in range(2)] == ["True", "True"]


def test_slurm_starts_the_processes_as_well(tmp_path):
    """Two tasks on two nodes, as srun would start them, but both here."""
    slurm = {"SLURM_NTASKS": "2", "SLURM_NTASKS_PER_NODE": "1", "SLURM_NNODES": "2", "SLURM_JOB_ID": "1"}
    slurm |= {"SLURM_JOB_NAME": "train", "SLURM_NODELIST": "localhost", "SLURM_LOCALID": "0"}
    slurm |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29518"}
    nodes = ["--trainer.accelerator", "cpu", "--trainer.strategy", "ddp", "--trainer.devices", "1", "--threads", "1"]
    nodes += ["--trainer.num_nodes", "2", *SMALL, "--data.steps", str(UPDATE * 3), "--run", "run"]
    (tmp_path / "watching.py").write_text(WATCH)
    nodes += ["--trainer.callbacks+=watching.Digest"]
    tasks = [
        brdiv(tmp_path, "fit", "--config", "reaching", *nodes, env={**os.environ, **slurm, **own})
        for own in ({"SLURM_PROCID": str(rank), "SLURM_NODEID": str(rank)} for rank in range(2))
    ]
    said = [finish(task) for task in tasks]
    assert [out.count("mean diagonal") for out in said] == [1, 0]
    ranks = [(tmp_path / f"rank{rank}.txt").read_text().split() for rank in range(2)]
    assert ranks[0] == ranks[1]
    assert ranks[0][1:] == ["2", str(UPDATE * 3), "1"]
    assert (tmp_path / "run" / "population.safetensors").exists()
    assert len(list((tmp_path / "run").glob("events.out.tfevents*"))) == 1


def test_asked_to_stop_all_processes_save_one_checkpoint_and_say_once_how_to_resume(tmp_path):
    options = [*TWO, *SMALL, "--data.steps", "50_000_000", "--checkpoints.every", str(UPDATE * 5), "--run", "run"]
    process = brdiv(tmp_path, "fit", "--config", "reaching", *options, start_new_session=True)
    try:
        wait_for_a_checkpoint(process, tmp_path / "run")
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=60)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 128 + signal.SIGTERM, out
    assert out.count("resume with  brdiv fit") == 1
    saved = out.split("saved as ")[1].split()[0]
    assert read_checkpoint(tmp_path / saved)["env_steps"] % UPDATE == 0


@pytest.mark.parametrize("victim", ["first", "second"])
def test_when_one_process_dies_the_other_soon_stops_with_an_error(victim, tmp_path):
    options = [*TWO, *SMALL, "--data.steps", "50_000_000", "--checkpoints.every", str(UPDATE * 5), "--run", "run"]
    process = brdiv(tmp_path, "fit", "--config", "reaching", *options, start_new_session=True)
    try:
        wait_for_a_checkpoint(process, tmp_path / "run")
        (child,) = children(process)
        os.kill(process.pid if victim == "first" else child, signal.SIGKILL)
        began = time.monotonic()
        if victim == "second":
            assert process.wait(60) != 0
        else:
            while alive(child):
                assert time.monotonic() - began < 60
                time.sleep(0.2)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_strategies_that_do_not_fit_are_refused(capsys):
    for strategy in ("fsdp", "ddp_spawn", "ddp_fork", "deepspeed"):
        with pytest.raises(SystemExit) as stop:
            main(["fit", "--config", "reaching", "--trainer.strategy", strategy])
        assert stop.value.code == 2
        (line,) = capsys.readouterr().err.strip().splitlines()
        assert "use ddp for several devices" in line


def test_a_checkpoint_of_another_number_of_processes_is_refused():
    from brdiv.training import RolloutStream

    stream = RolloutStream(None, 5)
    with pytest.raises(ValueError, match="written by 2 processes, and this run has 1"):
        stream.load_state_dict({"ranks": [{}, {}]})
