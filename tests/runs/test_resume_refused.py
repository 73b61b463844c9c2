"""What a run refuses to resume from, in one line each."""

import pytest

from brdiv.commands import main
from tests.runs.killed_runs import resume, whole_run


def complaint(capsys, *arguments):
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        main(["fit", "--config", "reaching", *arguments])
    assert stop.value.code == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    return line


def test_a_finished_run_has_nothing_to_resume(tmp_path, capsys):
    run = whole_run(tmp_path / "whole", updates=2)
    capsys.readouterr()
    with pytest.raises(SystemExit):
        resume(run)
    assert "the run is over, 256 of 256 steps" in capsys.readouterr().err


def test_missing_checkpoints_are_named(tmp_path, capsys):
    assert "no checkpoint file nowhere.ckpt" in complaint(capsys, "--ckpt_path", "nowhere.ckpt")
    assert "no run folder" in complaint(capsys, "--ckpt_path", "last", "--run", str(tmp_path / "none"))
    assert "holds no checkpoint" in complaint(capsys, "--ckpt_path", "last", "--run", str(tmp_path))


def test_a_checkpoint_of_another_game_is_refused(tmp_path, capsys):
    whole_run(tmp_path / "lbf", updates=2, config="lbf")
    path = tmp_path / "lbf" / "checkpoints" / "step_000000000256.ckpt"
    line = complaint(capsys, "--ckpt_path", str(path), "--data.steps", "99999", "--model.hidden", "[16]")
    assert "does not fit" in line


def test_yaml_is_loaded_without_running_code(tmp_path, capsys):
    (tmp_path / "bomb.yaml").write_text("seed_everything: !!python/object/apply:os._exit [3]\n")
    assert "brdiv: error" in complaint(capsys, "--config", str(tmp_path / "bomb.yaml"))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (["--data.self_play_rows", "9"], "16 rows per process there and 17 here"),
        (["--data.window", "4"], "8 steps per window"),
    ],
)
def test_other_rows_or_windows_are_refused(changed, told, finished_run, capsys):
    early = str(finished_run / "checkpoints" / "step_000000000256.ckpt")
    with pytest.raises(SystemExit) as stop:
        main(["fit", "--config", str(finished_run / "config.yaml"), "--ckpt_path", early, *changed])
    assert stop.value.code == 2
    assert told in capsys.readouterr().err


def test_a_checkpoint_resumes_in_its_own_folder_alone(finished_run, tmp_path, capsys):
    early = str(finished_run / "checkpoints" / "step_000000000256.ckpt")
    assert "belongs to the run in" in complaint(capsys, "--ckpt_path", early, "--run", str(tmp_path))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (["--data.game.payoffs", "[1, 1, 1, 1]"], "game Reaching("),
        (["--config", "methods/independent"], "method BRDiv there and Independent here"),
        (["--data.self_play_rows", "4", "--data.cross_play_rows", "12"], "rows 8 of self-play and 8 of cross-play"),
    ],
)
def test_a_checkpoint_of_something_else_is_refused_with_what_differs(changed, told, finished_run, capsys):
    early = str(finished_run / "checkpoints" / "step_000000000256.ckpt")
    with pytest.raises(SystemExit) as stop:
        main(["fit", "--config", str(finished_run / "config.yaml"), "--ckpt_path", early, *changed])
    assert stop.value.code == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert told in line
