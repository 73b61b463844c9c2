import io
import json
import sys

import pytest

from brdiv.benchmarks import against
from brdiv.commands import main
from brdiv.commands.line import turns
from tests.small_runs import SMALL

VERSION = """#!{python} -IS
import sys
print(1000, flush=True)
for line in sys.stdin:
    print(int(line) * {seconds}, int(line) * {seconds} / 2, flush=True)
"""


def version(path, seconds):
    """A stand-in for another version's Python: its updates of 1,000 steps take so many seconds."""
    path.write_text(VERSION.format(python=sys.executable, seconds=seconds))
    path.chmod(0o755)
    return str(path)


def test_two_versions_are_compared_on_one_thread_and_on_all(tmp_path, monkeypatch, capsys):
    other, this = version(tmp_path / "other", 0.5), version(tmp_path / "this", 0.25)
    monkeypatch.setattr(sys, "executable", this)
    main(["bench", "--config", "lbf", "--against", other, "--threads", "2", "--updates", "40"])
    out = capsys.readouterr().out.strip().splitlines()
    one, two = json.loads(out[-1])
    assert (one["threads"], two["threads"]) == (1, 2)
    assert one["other"] == {"rounds": [2000.0] * against.ROUNDS, "best": 2000.0, "per_cpu_second": 4000.0}
    assert two["this"] == {"rounds": [4000.0] * against.ROUNDS, "best": 4000.0, "per_cpu_second": 8000.0}
    assert one["ratios"] == two["ratios"] == [2.0] * 3
    assert " ".join(out[2].split()) == "1 2,000 (2,000, 4,000) 4,000 (4,000, 8,000) 2.00 (2.00, 2.00)"


def test_a_round_counts_with_the_mean_of_its_stretches_and_the_fastest_stretch_with_its_own_time():
    speed = against.speed_of([[(1.0, 0.5), (3.0, 1.0)], [(4.0, 0.25), (4.0, 2.0)]], steps=8)
    assert speed == ([4.0, 2.0], 8.0, 32.0)


@pytest.mark.parametrize(("python", "said"), [("nowhere", "nowhere can't be run"), ("broken", "no module named brdiv")])
def test_another_version_that_does_not_run_is_told_in_one_line(python, said, tmp_path, capsys):
    path = tmp_path / python
    if python == "broken":
        path.write_text("#!/bin/sh\necho traceback >&2\necho no module named brdiv >&2\nexit 1\n")
        path.chmod(0o755)
    with pytest.raises(SystemExit):
        main(["bench", "--config", "lbf", "--against", str(path), "--threads", "1"])
    complaint = capsys.readouterr().err.strip().splitlines()
    assert len(complaint) == 1
    assert said in complaint[0]


def test_comparing_needs_a_config(capsys):
    with pytest.raises(SystemExit):
        main(["bench", "--against", sys.executable])
    assert "against needs a config" in capsys.readouterr().err


def test_a_run_trains_as_many_updates_as_it_is_told_and_ends_when_nobody_asks_for_more(monkeypatch, capsys):
    trained = []
    monkeypatch.setattr(sys, "stdin", io.StringIO("3\n1\n"))
    monkeypatch.setattr(turns.Turns, "on_train_batch_start", lambda *_: trained.append(1), raising=False)
    turns.main(["--config", "reaching", *SMALL])
    steps, *stretches = capsys.readouterr().out.splitlines()
    assert int(steps) == 16 * 8
    assert [len(line.split()) for line in stretches] == [2, 2]
    assert all(float(seconds) > 0 for line in stretches for seconds in line.split())
    assert len(trained) == 4
