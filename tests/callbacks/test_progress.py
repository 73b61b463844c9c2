import re

import pytest
from brdiv.callbacks.progress import describe
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests.small_runs import train


def test_outside_a_terminal_progress_is_plain_lines(tmp_path, capsys):
    run = train(tmp_path / "run", "--progress.seconds", "0", "--cross_play.every", "512")
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("training: ")]
    assert len(lines) == 13  # one for each of 12 updates, one at the end
    assert re.fullmatch(r"training: 128 of 1,536 steps \(8 %\), [\d,]+ steps/s, \d+:\d\d left", lines[0])
    half = r"training: 768 of 1,536 steps \(50 %\), [\d,]+ steps/s, \d+:\d\d left"
    assert re.fullmatch(f"{half}, {measured(run, 512)}", lines[5])
    done = r"training: 1,536 of 1,536 steps \(100 %\), [\d,]+ steps/s, done in \d+:\d\d"
    assert re.fullmatch(f"{done}, {measured(run, 1536)}", lines[-1])


def measured(run, step):
    """What a line should say of the matrix that was measured at a step."""
    events = EventAccumulator(str(run)).Reload()
    names = {"diagonal": "cross_play/mean_diagonal", "off-diagonal": "cross_play/mean_off_diagonal"}
    found = {name: next(e.value for e in events.Scalars(tag) if e.step == step) for name, tag in names.items()}
    return ", ".join(f"{name} {value:.3f}" for name, value in found.items())


def test_in_a_terminal_of_eighty_columns_nothing_of_it_is_cut_off(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("COLUMNS", "80")
    run = train(tmp_path / "run", "--cross_play.every", "512")
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().out)
    assert "1,536 of 1,536 steps (100 %)" in shown
    assert measured(run, 1536) in shown


def test_lines_are_printed_now_and_then_only(tmp_path, capsys):
    train(tmp_path / "run")
    assert capsys.readouterr().out.count("training: ") == 1


def test_progress_can_be_switched_off(tmp_path, capsys):
    train(tmp_path / "run", "--trainer.enable_progress_bar", "false")
    assert "training: " not in capsys.readouterr().out


@pytest.mark.parametrize(("first", "expected"), [(0, "1,000 steps/s, 0:09 left"), (900, "100 steps/s, 1:30 left")])
def test_speed_counts_what_was_done_since_the_start(first, expected):
    assert describe(1_000, 10_000, first, 1.0).endswith(expected)
