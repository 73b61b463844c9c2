import re

import pytest
from brdiv.callbacks.progress import describe

from tests.small_runs import train


def test_outside_a_terminal_progress_is_plain_lines(tmp_path, capsys):
    train(tmp_path / "run", "--progress.seconds", "0")
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("training: ")]
    assert len(lines) == 13  # one for each of 12 updates, one at the end
    assert re.fullmatch(r"training: 768 of 1,536 steps \(50 %\), [\d,]+ steps/s, \d+:\d\d left", lines[5])
    assert re.fullmatch(r"training: 1,536 of 1,536 steps \(100 %\), [\d,]+ steps/s, done in \d+:\d\d", lines[-1])


def test_lines_are_printed_now_and_then_only(tmp_path, capsys):
    train(tmp_path / "run")
    assert capsys.readouterr().out.count("training: ") == 1


def test_progress_can_be_switched_off(tmp_path, capsys):
    train(tmp_path / "run", "--trainer.enable_progress_bar", "false")
    assert "training: " not in capsys.readouterr().out


@pytest.mark.parametrize(("first", "expected"), [(0, "1,000 steps/s, 0:09 left"), (900, "100 steps/s, 1:30 left")])
def test_speed_counts_what_was_done_since_the_start(first, expected):
    assert describe(1_000, 10_000, first, 1.0).endswith(expected)
