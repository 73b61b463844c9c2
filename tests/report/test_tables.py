"""The page's tables as files say what the page says."""

import csv

import pytest

from brdiv.commands import main
from tests.report.studies import add_learner, untrained_cell, untrained_learner, whole_study, write_rest

TWO = {"base": 0.8, "independent": 0.5}


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_tables_are_written_as_markdown_latex_and_csv(tmp_path):
    study, folder = whole_study(tmp_path / "study", TWO, seeds=3), tmp_path / "new" / "tables"
    main(["report", str(study), "--tables", str(folder), "--animate", "0"])
    names = {"claims", "reaching-methods", "reaching-learners", "reaching-heuristics", "reaching-generated"}
    assert {path.name for path in folder.iterdir()} == {f"{n}.{e}" for n in names for e in ("md", "tex", "csv")} | {
        "tables.md"
    }
    whole = (folder / "tables.md").read_text()
    assert all((folder / f"{name}.md").read_text() in whole for name in names)


def test_a_row_per_method_says_what_its_learners_earned(tmp_path):
    study = whole_study(tmp_path / "study", TWO, seeds=3, others=0.1)
    main(["report", str(study), "--tables", str(tmp_path), "--animate", "0"])
    told = {row["method"]: row for row in rows(tmp_path / "reaching-methods.csv")}
    assert list(told) == ["BRDiv", "Independent"]
    for label, level in (("BRDiv", 0.8), ("Independent", 0.5)):
        row = told[label]
        assert row["seeds"] == "3 of 3"
        estimate = float(row["IQM, heuristics"].split()[0])
        assert abs(estimate - level) < 0.02
        assert row["diagonal"] == "1.000"
        assert (row["none alike"], row["own strategies"]) == ("3", "3")
    assert told["BRDiv"]["steps"] == "10.5"  # mean of the lengths 9 to 12 of the four teams


def test_a_row_per_learner_says_who_prepared_it_and_what_it_earned(tmp_path):
    study = whole_study(tmp_path / "study", TWO, seeds=3, learner="plastic")
    runs = [(method, seed) for method in TWO for seed in range(3)]
    for method, seed in runs:
        untrained_learner(study, "reaching", method, seed)
    add_learner(study, "reaching", runs, 4, {"base": 0.9, "independent": 0.6})
    learners = [{"learner": "ppo", "label": "PPO", "steps": 512}]
    labels = (("base", "BRDiv"), ("independent", "Independent"))
    groups = [{"game": "reaching", "method": m, "label": label, "seeds": [0, 1, 2]} for m, label in labels]
    write_rest(study, resolved={"groups": [{**group, "learners": learners} for group in groups]})
    main(["report", str(study), "--tables", str(tmp_path), "--animate", "0"])
    told = rows(tmp_path / "reaching-learners.csv")
    assert [(row["prepared by"], row["learner"], row["seeds"]) for row in told] == [
        ("BRDiv", "PLASTIC", "3"), ("BRDiv", "PPO", "3"), ("Independent", "PLASTIC", "3"), ("Independent", "PPO", "3"),
    ]  # fmt: skip
    earned = [float(row["IQM, heuristics"].split()[0]) for row in told]
    assert earned == pytest.approx([0.8, 0.9, 0.5, 0.6], abs=0.02)
    assert all(row["share of what is possible"].endswith("%") for row in told)


def test_a_row_per_stranger_has_a_column_per_method(tmp_path):
    study = whole_study(tmp_path / "study", TWO, seeds=3)
    main(["report", str(study), "--tables", str(tmp_path), "--animate", "0"])
    heuristics = rows(tmp_path / "reaching-heuristics.csv")
    assert [row["teammate"] for row in heuristics] == [f"H{n}" for n in range(1, 12)]
    assert all(float(row["BRDiv"].split()[0]) > float(row["Independent"].split()[0]) for row in heuristics)
    assert [row["teammate"] for row in rows(tmp_path / "reaching-generated.csv")] == ["BRDiv", "Independent"]


def test_claims_about_games_that_were_not_played_are_left_out(tmp_path):
    study = whole_study(tmp_path / "study", TWO, seeds=3)
    main(["report", str(study), "--tables", str(tmp_path), "--animate", "0"])
    assert {row["game"] for row in rows(tmp_path / "claims.csv")} == {"Reaching", "all"}


def test_a_label_from_a_file_is_no_formula(tmp_path):
    study = whole_study(tmp_path / "study", TWO, seeds=1)
    untrained_cell(study, "reaching", "independent", 0, label="=HYPERLINK(1)")
    main(["report", str(study), "--tables", str(tmp_path), "--animate", "0"])
    labels = [row["method"] for row in rows(tmp_path / "reaching-methods.csv")]
    assert labels == ["BRDiv", "'=HYPERLINK(1)"]


def test_names_from_files_lead_out_of_no_folder_and_none_overwrites_another(tmp_path):
    study, folder = whole_study(tmp_path / "study", TWO, seeds=1), tmp_path / "in" / "tables"
    runs = [(method, 0) for method in TWO]
    names = ("PPO", "ppo", "a/b", "a-b", "../../out")
    for name in names:
        add_learner(study, "reaching", runs, 4, TWO, learner=name)
    groups = [{"game": game, "method": "base", "seeds": [0]} for game in ("reaching", "../x", "/y")]
    write_rest(study, resolved={"groups": groups})
    main(["report", str(study), "--tables", str(folder), "--animate", "0"])
    assert {path.name for path in tmp_path.iterdir()} == {"study", "in"}
    assert {path.name for path in (tmp_path / "in").iterdir()} == {"tables"}
    learners = ("", "-PPO", "-ppo", "-a-b", "-a-b-2", "-..-..-out")
    games = {"claims", "reaching-methods", "reaching-learners", "-x-methods", "-y-methods"}
    met = {f"reaching-{scenario}{name}" for scenario in ("heuristics", "generated") for name in learners}
    assert {path.stem for path in folder.glob("*.csv")} == games | met


def test_a_file_where_the_folder_should_be_is_refused_before_anything_is_read(tmp_path, capsys):
    study = whole_study(tmp_path / "study", TWO, seeds=1)
    (tmp_path / "taken").write_text("")
    with pytest.raises(SystemExit, match="2"):
        main(["report", str(study), "--tables", str(tmp_path / "taken")])
    assert "is not a folder" in capsys.readouterr().err
    assert not (study / "report.html").exists()
