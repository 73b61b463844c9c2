"""The command as a whole, with tiny runs."""

import csv
import os
import re
import signal
import subprocess
import sys
import time

import pytest
import torch
import yaml
from safetensors.torch import load_file

from brdiv.commands import main
from brdiv.study.attempt import take_lock
from tests.processes import alive, children
from tests.study.small_study import LONG, state_of, write_study

CELL = "reaching/independent/seed1"


def cell_folder(folder, cell=CELL):
    return folder / "cells" / cell


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def same_weights(first, second):
    ours, theirs = (load_file(run / "population.safetensors") for run in (first, second))
    return ours.keys() == theirs.keys() and all(torch.equal(ours[name], theirs[name]) for name in ours)


def refused(capsys, *arguments):
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        main([str(part) for part in arguments])
    assert stop.value.code == 2
    return capsys.readouterr().err


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A study of two cells that has run to its end: its file and its folder."""
    folder = tmp_path_factory.mktemp("study")
    file = write_study(folder / "two.yaml", methods=["base", "independent"])
    main(["study", str(file), "--folder", str(folder / "out")])
    return file, folder / "out"


def test_every_cell_is_a_finished_run_with_its_state_and_log(finished):
    _, folder = finished
    for cell in ("reaching/base/seed1", CELL):
        state = state_of(folder, cell)
        assert (state["state"], state["why"], state["attempts"], state["steps"]) == ("done", "", 1, 384)
        assert state["seconds"] > 0
        assert (cell_folder(folder, cell) / "config.yaml").exists()
        assert "384 of 384 steps" in cell_folder(folder, f"{cell}.log").read_text()


def test_the_study_and_what_it_was_made_with_are_written_down(finished):
    file, folder = finished
    written = yaml.safe_load((folder / "study.yaml").read_text())
    resolved = written.pop("resolved")
    assert written == yaml.safe_load(file.read_text())
    assert [group["label"] for group in resolved["groups"]] == ["BRDiv", "Independent"]
    versions = yaml.safe_load((folder / "versions.json").read_text())
    assert versions["torch"] == torch.__version__
    assert versions["machine"]["cores"] == len(os.sched_getaffinity(0))


def test_a_cell_is_bit_for_bit_what_fit_trains_with_its_config_and_seed(finished, tmp_path):
    run = cell_folder(finished[1])
    config = yaml.safe_load((run / "config.yaml").read_text())
    assert (config["seed_everything"], config["threads"]) == (1, 1)
    options = ["--model.hidden", "[16]", "--data.steps", "384", "--data.self_play_rows", "8"]
    options += ["--data.cross_play_rows", "8", "--seed_everything", "1", "--threads", "1"]
    options += ["--model.products", config["model"]["products"], "--cross_play.final_episodes", "2"]
    main(["fit", "--config", "reaching", "--config", "methods/independent", *options, "--run", str(tmp_path / "fit")])
    assert same_weights(run, tmp_path / "fit")


def test_everyone_is_measured_with_heuristics_and_with_all_teams_but_their_own(finished):
    folder = finished[1] / "evaluation" / "reaching"
    matrix = rows(folder / "cross_play.csv")
    assert {(row["method"], row["teammate"], row["response"]) for row in matrix} == {
        (method, str(i), str(j)) for method in ("base", "independent") for i in range(1, 5) for j in range(1, 5)
    }
    episodes = rows(folder / "episodes.csv")
    met = {(row["method"], row["scenario"], row["teammate_method"], row["teammate"]) for row in episodes}
    scripted = {(m, "heuristics", "heuristics", f"H{n}") for m in ("base", "independent") for n in range(1, 12)}
    others = [("base", "independent"), ("independent", "base")]
    assert met == scripted | {(m, "generated", other, str(team)) for m, other in others for team in range(1, 5)}
    assert len(episodes) == 2 * len(met)  # two episodes of each pair
    assert all(0 <= float(row["return"]) <= 1 and 1 <= int(row["length"]) <= 50 for row in episodes)
    assert [(row["method"], row["team"]) for row in rows(folder / "strategies.csv")] == [
        (method, str(team)) for method in ("base", "independent") for team in range(1, 5)
    ]


def test_run_again_it_neither_trains_nor_measures_anything(finished):
    file, folder = finished
    written = {path: path.stat().st_mtime_ns for path in cell_folder(folder).rglob("*") if path.is_file()}
    logs = cell_folder(folder, f"{CELL}.log").read_text()
    tables = {path.name: path.read_bytes() for path in (folder / "evaluation/reaching").iterdir()}
    main(["study", str(file), "--folder", str(folder)])
    assert {path: path.stat().st_mtime_ns for path in cell_folder(folder).rglob("*") if path.is_file()} == written
    assert cell_folder(folder, f"{CELL}.log").read_text() == logs
    assert {path.name: path.read_bytes() for path in (folder / "evaluation/reaching").iterdir()} == tables


def test_settings_that_have_changed_are_named_and_nothing_is_done(finished, tmp_path, capsys):
    _, folder = finished
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    changed = write_study(tmp_path / "two.yaml", methods=["base", "independent", "lipo"], overrides=LONG)
    line = refused(capsys, "study", changed, "--folder", folder)
    assert "nothing was done" in line
    assert "reaching/base (1 of its cells begun)" in line
    assert "data.steps was 384 and is 40000" in line
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_a_dry_run_lists_cells_and_writes_nothing(finished, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("brdiv.benchmarks.together.measure_at_once", lambda *args, **kwargs: [100, 300])
    file = write_study(tmp_path / "three.yaml", methods=["base", "lipo"], seeds="1-2")
    main(["study", str(file), "--folder", str(tmp_path / "out"), "--dry-run", "--jobs", "1"])
    out = capsys.readouterr().out
    assert [line.split()[:2] for line in out.splitlines()[:4]] == [
        [str(number), f"reaching/{cell}"]
        for number, cell in enumerate(["base/seed1", "base/seed2", "lipo/seed1", "lipo/seed2"], 1)
    ]
    assert "4 of 4 cells to train: about 0:08" in out  # 4 x 384 steps at 200 a second
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("overrides", "complaint"),
    [
        ({"data": {"steps": 3}}, "reaching/independent: steps is 3"),
        ({"data": {"stepz": 3}}, "reaching/independent: data.stepz: no such setting"),
    ],
)
def test_bad_settings_are_refused_before_anything_is_written(overrides, complaint, tmp_path, capsys):
    file = write_study(tmp_path / "bad.yaml", overrides=overrides)
    assert complaint in refused(capsys, "study", file, "--folder", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_disk_without_room_is_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 10})())
    file = write_study(tmp_path / "one.yaml")
    assert "GB are free" in refused(capsys, "study", file, "--folder", tmp_path / "out")


FLAKY = """
from pathlib import Path
from brdiv.games import Reaching

class Flaky(Reaching):
    def initial(self, rows, generator):
        if not Path("mended").exists():
            raise RuntimeError("the sky fell")
        return super().initial(rows, generator)
"""


def test_a_cell_that_fails_is_a_line_and_is_tried_again_on_demand(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "flaky_game", raising=False)
    (tmp_path / "flaky_game.py").write_text(FLAKY)
    (tmp_path / "flaky.yaml").write_text("data: { game: flaky_game.Flaky }\nmodel: { n_types: 2 }\n")
    file = write_study(tmp_path / "two.yaml", games=["flaky.yaml", "reaching"])
    flaky = "flaky/independent/seed1"

    def run(*options):
        with pytest.raises(SystemExit) as stop:
            main(["study", str(file), "--folder", "out", "--jobs", "1", *options])
        assert stop.value.code == 1
        return capsys.readouterr()

    printed = run()
    assert "flaky/independent/seed1: failed after 0:" in printed.out
    assert "RuntimeError: the sky fell" in printed.out
    assert "failed: flaky/independent/seed1" in printed.err
    assert state_of(tmp_path / "out", flaky)["state"] == "failed"
    assert state_of(tmp_path / "out", flaky)["why"] == "RuntimeError: the sky fell"
    assert state_of(tmp_path / "out")["state"] == "done"
    assert rows(tmp_path / "out/evaluation/reaching/episodes.csv"), "the other is evaluated all the same"
    (tmp_path / "mended").touch()
    run()
    assert state_of(tmp_path / "out", flaky)["attempts"] == 1, "not tried again unless asked to"
    main(["study", str(file), "--folder", "out", "--retry"])
    assert (state_of(tmp_path / "out", flaky)["state"], state_of(tmp_path / "out", flaky)["attempts"]) == ("done", 2)


def start_long(tmp_path):
    """Start a study of one cell, and wait until that has a checkpoint."""
    file = write_study(tmp_path / "long.yaml", overrides=LONG)
    command = [sys.executable, "-m", "brdiv", "study", str(file), "--folder", str(tmp_path / "out")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    deadline = time.monotonic() + 400
    while not list(cell_folder(tmp_path / "out").glob("checkpoints/step_*.ckpt")):
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process, children(process)


def wait_until_gone(pids):
    deadline = time.monotonic() + 60
    while any(map(alive, pids)):
        assert time.monotonic() < deadline, "a run outlived its study"
        time.sleep(0.05)


def test_killed_and_run_again_it_ends_where_it_would_have_ended(tmp_path):
    process, runs = start_long(tmp_path)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert runs
    main(["study", str(tmp_path / "long.yaml"), "--folder", str(tmp_path / "out")])  # waits for the run to be gone
    assert not any(map(alive, runs))
    state = state_of(tmp_path / "out")
    assert (state["state"], state["attempts"], state["steps"]) == ("done", 2, 39_936)
    log = cell_folder(tmp_path / "out", f"{CELL}.log").read_text()
    resumed = int(log.split("--- attempt 2, from step ")[1].split()[0].replace(",", ""))
    assert 0 < resumed < 39_936
    settings = cell_folder(tmp_path / "out").parent / "settings.yaml"
    alone = ["--config", str(settings), "--seed_everything", "1", "--threads", "1", "--run", str(tmp_path / "alone")]
    main(["fit", *alone])
    assert same_weights(cell_folder(tmp_path / "out"), tmp_path / "alone")


def test_ctrl_c_stops_every_cell_with_a_checkpoint(tmp_path):
    process, runs = start_long(tmp_path)
    process.send_signal(signal.SIGINT)
    printed = process.communicate(timeout=100)[0]
    assert process.returncode == 130
    wait_until_gone(runs)
    state = state_of(tmp_path / "out")
    (newest,) = sorted(cell_folder(tmp_path / "out").glob("checkpoints/step_*.ckpt"))[-1:]
    assert (state["state"], state["steps"]) == ("waiting", int(newest.stem.removeprefix("step_")))
    assert f"saved as {newest}" in cell_folder(tmp_path / "out", f"{CELL}.log").read_text()
    assert "stopped with 1 cells to go; the same command resumes them" in printed


def test_a_game_is_evaluated_while_cells_of_the_next_are_trained_and_reported_although_these_never_end(tmp_path):
    later = {"games": ["lbf"], "overrides": {**LONG, "data": {**LONG["data"], "steps": 4_000_000}}}
    file = write_study(tmp_path / "two.yaml", also=[later])
    command = [sys.executable, "-m", "brdiv", "study", str(file), "--folder", str(tmp_path / "out"), "--jobs", "2"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    table, deadline = tmp_path / "out/evaluation/reaching/episodes.csv", time.monotonic() + 400
    while not (table.exists() and len(rows(table)) == 2 * 11):
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert state_of(tmp_path / "out", "lbf/independent/seed1")["state"] == "running"
    process.send_signal(signal.SIGINT)
    printed = process.communicate(timeout=100)[0]
    assert process.returncode == 130
    assert "with --evaluate it measures those that are done" in printed
    assert (table.parent / "measured.jsonl").read_text().count("\n") == 2
    main(["report", str(tmp_path / "out"), "--animate", "0"])
    text = re.sub(r"\s+", " ", (tmp_path / "out/report.html").read_text())
    assert "1 of 2 runs are done" in text
    assert "There is no evaluation of LBF yet" in text


def test_what_is_done_is_evaluated_on_demand_without_training_the_rest(tmp_path, capsys):
    file = write_study(tmp_path / "two.yaml", methods=["base", "independent"])
    assert "no cell is done" in refused(capsys, "study", file, "--folder", tmp_path / "out", "--evaluate")
    main(["study", str(file), "--folder", str(tmp_path / "out"), "--cell", "2"])
    main(["study", str(file), "--folder", str(tmp_path / "out"), "--evaluate"])
    assert "1 of 2 cells are done, and evaluated" in capsys.readouterr().out
    assert len(rows(tmp_path / "out/evaluation/reaching/episodes.csv")) == 2 * 11
    assert not (tmp_path / "out/cells/reaching/base").exists()
    written = yaml.safe_load((tmp_path / "out/study.yaml").read_text())
    assert written["resolved"]["cells"] == 2, "a report can tell what is missing"


@pytest.mark.parametrize("option", [["--retry"], ["--cell", "1"], ["--ray", "auto"]])
def test_evaluation_alone_is_asked_for_without_what_belongs_to_training(option, tmp_path, capsys):
    file = write_study(tmp_path / "one.yaml")
    line = refused(capsys, "study", file, "--folder", tmp_path / "out", "--evaluate", *option)
    assert f"so {option[0]} has no place beside it" in line


def test_one_cell_can_be_trained_alone_by_its_number(tmp_path):
    file = write_study(tmp_path / "two.yaml", methods=["base", "independent"])
    main(["study", str(file), "--folder", str(tmp_path / "out"), "--cell", "2"])
    assert state_of(tmp_path / "out")["state"] == "done"
    assert not (tmp_path / "out/cells/reaching/base").exists()
    assert not (tmp_path / "out/evaluation").exists()


def test_a_cell_number_that_is_not_there_is_refused(tmp_path, capsys):
    file = write_study(tmp_path / "one.yaml")
    assert "the study has 1 cells" in refused(capsys, "study", file, "--folder", tmp_path / "out", "--cell", "2")


def test_ray_that_is_not_installed_is_named_as_the_extra_that_it_is(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    file = write_study(tmp_path / "one.yaml")
    assert "brdiv[ray]" in refused(capsys, "study", file, "--folder", tmp_path / "out", "--ray", "auto")


def test_a_lock_is_free_again_when_nobody_holds_it(tmp_path):
    lock = take_lock(tmp_path / "lock")
    assert take_lock(tmp_path / "lock") is None
    lock.close()
    assert take_lock(tmp_path / "lock") is not None
