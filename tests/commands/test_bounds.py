import csv
import os
import re
import signal
import time
from pathlib import Path

import pytest
import torch
from lightning import Trainer

from brdiv.commands import main
from brdiv.runs import save_population
from tests.bounds.hand_made import SAME, OneMove, teams
from tests.commands.test_commands import refused
from tests.processes import catches, forked, kill_when


def saved(folder, moves, responses, method="Independent", seed=0):
    game = OneMove(SAME)
    about = {"method": {"name": method, "label": method, "settings": {}}, "seed": seed, "finished": True}
    save_population(folder / "population.safetensors", teams(game, moves, responses), game, about)
    return str(folder)


def table(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_bounds_writes_what_every_response_earns_and_draws_it(tmp_path, capsys):
    run = saved(tmp_path / "run", [0, 1], [0, 1])
    quick = ["--steps", "600", "--episodes", "32", "--products", "blas", "--threads", "1"]
    main(["bounds", run, *quick, "--out", str(tmp_path / "out")])
    shares = table(tmp_path / "out/shares.csv")
    assert [(row["teams"], row["team"]) for row in shares] == [("1", "1"), ("2", "2"), ("1 2", "1"), ("1 2", "2")]
    assert [float(row["own_return"]) for row in shares] == [1.0] * 4
    assert [float(row["share"]) for row in shares] == [float(row["return"]) for row in shares]
    (summary,) = table(tmp_path / "out/summary.csv")
    assert (summary["method"], summary["teams"], summary["steps"]) == ("Independent", "2", "640")
    assert (tmp_path / "out/shares.png").read_bytes().startswith(b"\x89PNG")
    out = capsys.readouterr().out
    needed = "unknown" if summary["too_short"] else summary["needed"]
    assert f"best responses needed: {needed} for 2 teams" in out


def test_training_too_short_is_warned_of_and_the_same_seed_gives_the_same_files(tmp_path, capsys):
    run = saved(tmp_path / "run", [0, 1], [0, 1])
    for out in ("first", "second"):
        quick = ["--steps", "128", "--episodes", "16", "--products", "blas", "--threads", "1"]
        main(["bounds", run, *quick, "--out", str(tmp_path / out)])
        told = capsys.readouterr().out
        assert "WARNING: training was too short to conclude anything" in told
        assert "best responses needed: unknown for 2 teams" in told
    first, second = ((tmp_path / out / "shares.csv").read_bytes() for out in ("first", "second"))
    assert first == second


def test_several_populations_are_summed_up_in_one_table(tmp_path, capsys):
    runs = [
        saved(tmp_path / "a", [0, 1], [0, 1], "BRDiv", seed=7),
        saved(tmp_path / "b", [0, 0, 1], [0, 0, 1], "Independent", seed=8),
    ]
    quick = ["--steps", "128", "--episodes", "4", "--products", "blas", "--threads", "1"]
    main(["bounds", *runs, *quick, "--out", str(tmp_path / "out")])
    summary = table(tmp_path / "out/summary.csv")
    assert [(row["method"], row["seed"], row["teams"]) for row in summary] == [
        ("BRDiv", "7", "2"),
        ("Independent", "8", "3"),
    ]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "shares.csv",
        "summary.csv",
        "shares-1.png",
        "shares-2.png",
        "training",
    }
    _, told = re.split(r"^best responses needed *$", capsys.readouterr().out, flags=re.MULTILINE)
    assert re.search(r"BRDiv +│ +7 │", told)
    assert re.search(r"Independent +│ +8 │", told)


def trained(out):
    """All weights at the end of training, those of the critics, too: shares alone are coarse."""
    (path,) = out.glob("training/*/seed0/checkpoints/step_*.ckpt")
    return torch.load(path, weights_only=True)["state_dict"]


def test_killed_and_run_again_it_goes_on_bit_for_bit(tmp_path, monkeypatch, capsys):
    run = saved(tmp_path / "run", [0, 1], [0, 1])
    monkeypatch.setattr("brdiv.commands.line.population_bounds.MINUTES", 1e-9)  # a checkpoint after every update
    quick = ["bounds", run, "--steps", "2000", "--episodes", "16", "--products", "blas", "--threads", "1", "--out"]
    main([*quick, str(tmp_path / "whole")])
    process = forked(lambda: main([*quick, str(tmp_path / "killed")]))
    kill_when(process, lambda: list((tmp_path / "killed").glob("training/*/seed0/checkpoints/step_*.ckpt")))
    assert not (tmp_path / "killed/shares.csv").exists()
    fits = []
    fit = Trainer.fit
    monkeypatch.setattr(Trainer, "fit", lambda *given, **how: [fits.append(how["ckpt_path"]), fit(*given, **how)])
    main([*quick, str(tmp_path / "killed")])
    assert [Path(path).stem.startswith("step_") for path in fits] == [True]
    main([*quick, str(tmp_path / "killed")])
    assert len(fits) == 1, "what is trained is not trained again"
    whole, killed = ((tmp_path / out / "shares.csv").read_bytes() for out in ("whole", "killed"))
    assert whole == killed
    ours, theirs = (trained(tmp_path / out) for out in ("whole", "killed"))
    assert ours.keys() == theirs.keys()
    for name, weights in ours.items():
        assert torch.equal(weights, theirs[name]), name
    with pytest.raises(SystemExit):
        main(["4000" if part == "2000" else part for part in quick] + [str(tmp_path / "killed")])
    assert "choose another --out, or remove that folder" in capsys.readouterr().err


def test_a_signal_stops_it_with_a_checkpoint_and_it_says_how_to_go_on(tmp_path, capfd):
    run, out = saved(tmp_path / "run", [0, 1], [0, 1]), tmp_path / "out"
    quick = ["bounds", run, "--episodes", "16", "--products", "blas", "--threads", "1", "--out", str(out)]

    def begin():
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        main([*quick, "--steps", "50_000_000"])

    process = forked(begin)
    deadline = time.monotonic() + 200
    while not list(out.glob("training/*/seed0")) or not catches(process.pid, signal.SIGTERM):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(1)
    os.kill(process.pid, signal.SIGTERM)
    process.join(100)
    assert process.exitcode == 128 + signal.SIGTERM
    assert f"the same command with --out {out} goes on from there" in capfd.readouterr().err
    assert list(out.glob("training/*/seed0/checkpoints/step_*.ckpt"))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "populations is missing"),
        (["nowhere"], "no population file or run folder"),
        (["run", "--steps", "0"], "steps is 0: it must be at least 1"),
        (["run", "--episodes", "0"], "episodes is 0"),
        (["run", "--threads", "0"], "threads is 0"),
        (["run", "--seed", "-1"], "seed is -1"),
        (["run", "--gamma", "0"], "gamma is 0"),
        (["run", "--products", "gmp"], "products is gmp: it must be auto, blas, onednn or both"),
        (["large"], "a population of 13 teams is too large"),
        (["unpaid", "--steps", "128"], "no team earns anything with its own best response"),
    ],
)
def test_a_mistake_gets_one_line_and_leaves_nothing_behind(arguments, complaint, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    saved(tmp_path / "run", [0, 1], [0, 1])
    saved(tmp_path / "large", [0] * 13, [0] * 13)
    saved(tmp_path / "unpaid", [0, 1], [1, 0])
    assert complaint in refused(capsys, "bounds", *arguments)
    assert not list(tmp_path.glob("bounds*"))
