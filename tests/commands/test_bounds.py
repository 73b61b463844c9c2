import csv
import re

import pytest

from brdiv.commands import main
from brdiv.runs import save_population
from tests.bounds.hand_made import SAME, OneMove, teams
from tests.commands.test_commands import refused


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
    }
    _, told = re.split(r"^best responses needed *$", capsys.readouterr().out, flags=re.MULTILINE)
    assert re.search(r"BRDiv +│ +7 │", told)
    assert re.search(r"Independent +│ +8 │", told)


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
