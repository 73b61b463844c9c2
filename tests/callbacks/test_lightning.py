"""Lightning's own callbacks and other loggers with ours."""

import csv
import os
import signal

import pytest
import torch
from brdiv.callbacks import CrossPlay
from lightning import Callback

from brdiv.commands import main
from brdiv.runs import load_population
from brdiv.training import TeammateGenerator
from tests.runs.killed_runs import assert_same_population, killed_after, resume, whole_run
from tests.small_runs import train

UPDATE = 16 * 8


class Notes(Callback):
    """Writes down what Lightning knows of the metrics after each update."""

    def on_train_batch_end(self, trainer, module, *_):
        torch.save({name: float(value) for name, value in trainer.callback_metrics.items()}, "metrics.pt")


def test_early_stopping_looks_at_every_matrix(tmp_path, monkeypatch):
    """Any matrix is good enough here, so the run ends with the first: after a twentieth of it, in its third update."""
    monkeypatch.chdir(tmp_path)
    stopping = ["--trainer.callbacks+=EarlyStopping", "--trainer.callbacks.monitor=cross_play/mean_diagonal"]
    stopping += ["--trainer.callbacks.mode=max", "--trainer.callbacks.stopping_threshold=-1"]
    run = train(tmp_path / "run", "--cross_play.every", str(4 * UPDATE), *stopping, steps=60 * UPDATE)
    assert load_population(run).about["steps"] == 3 * UPDATE


def test_model_checkpoint_monitors_our_metrics(tmp_path):
    options = ["--trainer.callbacks+=ModelCheckpoint", "--trainer.callbacks.monitor=cross_play/brdiv"]
    options += ["--trainer.callbacks.mode=max", "--trainer.callbacks.every_n_train_steps=4"]
    options += [f"--trainer.callbacks.dirpath={tmp_path}/own", "--cross_play.every", str(2 * UPDATE)]
    train(tmp_path / "run", *options, steps=8 * UPDATE)
    assert len(list((tmp_path / "own").glob("*.ckpt"))) == 1


def test_a_run_that_another_callback_remembers_something_of_can_be_resumed(tmp_path):
    options = ["--trainer.callbacks+=ModelCheckpoint", "--trainer.callbacks.monitor=cross_play/brdiv"]
    options += ["--trainer.callbacks.every_n_train_steps=1", f"--trainer.callbacks.dirpath={tmp_path}/own"]
    run = whole_run(tmp_path / "run", *options, "--cross_play.every", str(UPDATE), "--cross_play.episodes", "1")
    again = killed_after(run, 4 * UPDATE, tmp_path / "again")
    resume(again)
    assert_same_population(run, again)


def test_lightning_knows_losses_matrix_and_plastic(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ["--cross_play.every", str(UPDATE), "--plastic.every", str(UPDATE), "--plastic.episodes", "1"]
    train(tmp_path / "run", *options, "--trainer.callbacks+=tests.callbacks.test_lightning.Notes", steps=3 * UPDATE)
    metrics = torch.load("metrics.pt")
    assert {"loss/actor", "cross_play/brdiv", "plastic/mean_return", "plastic/H3"} <= set(metrics)


def test_the_run_folder_is_the_run_folder_whatever_the_logger(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    logger = ["--trainer.logger", "CSVLogger", "--trainer.logger.save_dir", "elsewhere"]
    run = train(tmp_path / "run", *logger, "--cross_play.every", str(2 * UPDATE), steps=4 * UPDATE)
    names = {path.name for path in run.iterdir()}
    assert {"config.yaml", "population.safetensors", "cross_play.csv", "cross_play.png", "checkpoints"} <= names
    (table,) = (tmp_path / "elsewhere").rglob("metrics.csv")
    with table.open() as file:
        steps = [int(row["step"]) for row in csv.DictReader(file) if row["cross_play/brdiv"]]
    assert sorted(set(steps)) == [UPDATE, 2 * UPDATE, 4 * UPDATE]
    assert [path.name for path in (run / "checkpoints").iterdir() if path.name.startswith("step")] == [
        f"step_{4 * UPDATE:012}.ckpt"
    ]


def test_without_a_logger_everything_is_written_too(tmp_path):
    run = train(tmp_path / "run", "--trainer.logger", "false", steps=2 * UPDATE)
    names = {path.name for path in run.iterdir()}
    assert {"config.yaml", "population.safetensors", "cross_play.csv", "checkpoints"} <= names


def test_fast_dev_run_leaves_no_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    train(tmp_path / "run", "--trainer.fast_dev_run", "true")
    assert list(tmp_path.iterdir()) == []


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_fast_dev_run_leaves_a_run_that_it_resumes_as_it_was(tmp_path, monkeypatch):
    """From the folder itself, where Lightning would write by default, and from an early checkpoint."""
    options = ["--checkpoints.every", str(2 * UPDATE), "--checkpoints.keep", "9"]
    run = train(tmp_path / "run", *options, steps=6 * UPDATE)
    monkeypatch.chdir(run)
    before = contents(run)
    early = f"checkpoints/step_{2 * UPDATE:012}.ckpt"
    main(["fit", "--config", "config.yaml", "--run", ".", "--ckpt_path", early, "--trainer.fast_dev_run", "5"])
    assert contents(run) == before


def test_a_fast_dev_run_stops_when_asked_to_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    steps = []
    step = TeammateGenerator.training_step

    def interrupted(self, rollout, batch_idx):
        steps.append(batch_idx)
        if batch_idx == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return step(self, rollout, batch_idx)

    monkeypatch.setattr(TeammateGenerator, "training_step", interrupted)
    with pytest.raises(SystemExit) as stop:
        train(tmp_path / "run", "--trainer.fast_dev_run", "8")
    assert stop.value.code == 128 + signal.SIGINT
    assert steps == [0, 1, 2]
    assert list(tmp_path.iterdir()) == []


def test_measuring_times_start_from_a_step():
    callback = CrossPlay(every=100)
    callback.times.start_from(250)
    assert callback.times.next == 300


@pytest.mark.parametrize(("every", "step", "following"), [(100, 0, 50), (100, 50, 100), (40, 0, 40), (40, 45, 80)])
def test_an_early_time_counts_once_and_only_where_nothing_comes_sooner(every, step, following):
    times = CrossPlay(every=every).times
    times.start_from(step, first=50)
    assert times.next == following
