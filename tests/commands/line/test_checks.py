"""What can't be written is refused in one line: before any work where that can be known."""

import os
from pathlib import Path

import pytest

from brdiv import load_population
from brdiv.commands import main
from tests.small_runs import train

NOWHERE = Path("/proc/nowhere")  # takes no files, not even from root
needs_devices = pytest.mark.skipif(not (NOWHERE.parent.is_dir() and Path("/dev/full").exists()), reason="Linux only")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return train(tmp_path_factory.mktemp("runs") / "run", steps=128)


def refused(capsys, *arguments):
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        main([str(part) for part in arguments])
    assert stop.value.code == 2
    printed = capsys.readouterr()
    (line,) = printed.err.strip().splitlines()
    return line.removeprefix("brdiv: error: "), printed.out


def commands(run, out):
    """Commands that write something, each with where it would."""
    return {
        "play": ["play", f"{run}:1", f"{run}:1", "--episodes", "1", "--out", f"{out}.gif"],
        "show": ["show", run, "--episodes", "1", "--picture", f"{out}.png"],
        "evaluate": ["evaluate", run, "--episodes", "1", "--out", out],
        "seeds": ["seeds", "--config", "reaching", "--folder", out],
        "compare": ["compare", "--config", "reaching", "--folder", out],
        "study": ["study", "quick", "--folder", out],
        "bench": ["bench", "--config", "reaching", "--scaling", out],
    }


@needs_devices
@pytest.mark.parametrize("command", commands("", ""))
def test_a_file_system_that_takes_no_files_is_refused_before_any_work(command, run, capsys):
    line, out = refused(capsys, *commands(run, NOWHERE)[command])
    assert "/proc/nowhere" in line
    assert "can't be written" in line
    assert out == "", "nothing was played"


@pytest.mark.parametrize("command", commands("", ""))
def test_a_file_in_place_of_a_folder_is_refused_before_any_work(command, run, tmp_path, capsys):
    (tmp_path / "file").write_text("mine")
    line, out = refused(capsys, *commands(run, tmp_path / "file" / "inside")[command])
    assert "can't be written" in line or "there is no folder" in line
    assert out == ""
    assert (tmp_path / "file").read_text() == "mine"


@needs_devices
def test_evaluate_looks_at_the_folder_it_would_choose(run, monkeypatch, capsys):
    monkeypatch.chdir(NOWHERE.parent)
    line, out = refused(capsys, "evaluate", run, "--episodes", "1")
    assert "can't be written" in line
    assert out == ""


@needs_devices
@pytest.mark.parametrize("command", ["play", "show", "evaluate"])
def test_a_full_disk_gets_one_line(command, run, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    for name in ("out.gif", "out.png", "out/cells.csv"):
        os.symlink("/dev/full", tmp_path / name)
    line, _ = refused(capsys, *commands(run, tmp_path / "out")[command])
    assert line.startswith(str(tmp_path / "out"))
    assert line.endswith("can't be written: No space left on device")


def test_checking_leaves_nothing_behind_and_what_is_there_alone(run, tmp_path, capsys):
    (tmp_path / "out.png").write_text("mine")
    refused(capsys, "show", tmp_path / "none", "--picture", tmp_path / "out.png")
    refused(capsys, "show", tmp_path / "none", "--picture", tmp_path / "new.png")
    refused(capsys, "evaluate", tmp_path / "none", "--out", tmp_path / "folder" / "inside")
    assert [path.name for path in tmp_path.iterdir()] == ["out.png"]
    assert (tmp_path / "out.png").read_text() == "mine"


def test_a_run_folder_stands_for_its_population_everywhere(run, tmp_path, capsys):
    main(["show", str(run), "--episodes", "1"])
    main(["play", f"{run}:1", f"{run}:2", "--episodes", "1"])
    main(["play", f"{run}/:1", f"{run}/:plastic", "--episodes", "1"])
    main(
        ["evaluate", str(run), "--teammates", "heuristics", str(run), "--episodes", "1", "--out", str(tmp_path / "out")]
    )
    by_folder, by_file = load_population(run), load_population(run / "population.safetensors")
    assert by_folder.about == by_file.about
    assert load_population(str(run)).about == by_file.about
    assert "teammate 1 with best response 2" in capsys.readouterr().out


@pytest.mark.parametrize("command", [["seeds"], ["compare"]])
def test_the_folder_that_runs_go_to_by_themselves_is_tried_too(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").write_text("in the way")
    with pytest.raises(SystemExit) as stop:
        main([*command, "--config", "reaching", "--seeds", "1"])
    assert stop.value.code == 2
    assert "can't be written" in capsys.readouterr().err
