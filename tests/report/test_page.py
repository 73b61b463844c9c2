"""The page is whole, says what is missing, and needs nothing but itself."""

import re
import shutil
import sys

import pytest

from brdiv.commands import main
from brdiv.report import write_report
from tests.report.studies import (
    made_up_episodes,
    made_up_matrices,
    record,
    train_cell,
    untrained_cell,
    whole_study,
    write_rest,
)
from tests.test_docs import example

TWO = {"base": 0.8, "independent": 0.5}


def page(study, animated=0, **options):
    write_report(study, study / "report.html", animated=animated, **options)
    return (study / "report.html").read_text()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Really trained for a few updates, with a setting that is not the shipped one."""
    study = tmp_path_factory.mktemp("trained")
    runs = [("base", 0), ("independent", 0)]
    for method, seed in runs:
        train_cell(study, "reaching", method, seed, "--model.gamma", "0.97", "--cross_play.every", "512")
    made_up_matrices(study, "reaching", runs, 4)
    made_up_episodes(study, "reaching", runs, 4, TWO)
    write_rest(study, games=["reaching"], methods=["base", "independent"], seeds=[0])
    return study


@pytest.fixture(scope="module")
def written(trained):
    """What the command wrote."""
    main(["report", str(trained)])
    return (trained / "report.html").read_text()


def test_the_command_writes_one_file_that_needs_no_other(written):
    text = written
    links = re.findall(r'(?:src|href)="([^"]*)"', text)
    assert {link.partition(":")[0] for link in links if not link.startswith("#")} == {"data", "https"}
    assert [link for link in links if link.startswith("https")] == ["https://openreview.net/forum?id=l5BzfQhROl"]
    assert "@import" not in text
    assert "url(http" not in text


def test_every_link_leads_somewhere_and_every_id_is_there_once(tmp_path):
    text = page(whole_study(tmp_path, TWO, seeds=3))
    ids = re.findall(r'\bid="([^"]*)"', text)
    assert len(ids) == len(set(ids))
    targets = set(re.findall(r'href="#([^"]+)"', text)) | set(re.findall(r"url\(#([^)]+)\)", text))
    assert targets
    assert targets <= set(ids)


def test_settings_are_shown_as_differences_from_the_shipped_ones(written):
    made = written.partition('id="made"')[2]
    rows = re.findall(r"<code>([\w.]+): (.*?)</code> <span class=\"quiet\">not (.*?)</span>", made)
    found = {name: (here, shipped) for name, here, shipped in rows}
    assert found["model.gamma"] == ("0.97", "0.99")
    assert found["data.steps"] == ("1536", "4000000")
    assert found["model.hidden"] == ("[16]", "[64, 64]")
    assert not {"run", "seed_everything", "model.objective.class_path", "model.learning_rate"} & set(found)


def test_learning_curves_are_what_runs_logged(written):
    curves = written.partition('id="curves"')[2].partition('id="steps"')[0]
    assert "self-play return" in curves
    assert "BRDiv: mean of 1 seed, at the end" in curves
    assert "No finished run has logged any" not in curves


def test_all_teams_of_one_population_of_each_method_are_shown_at_play(written, trained):
    assert written.count('src="data:image/gif;base64,') == 8
    assert page(trained, animated=0).count("data:image/gif") == 0


def test_failed_cells_are_listed_with_the_reason_and_nothing_in_it_is_markup(tmp_path):
    whole_study(tmp_path, TWO, seeds=3)
    record(tmp_path, "reaching", "trajedi0", 7, "failed", "<script>alert(1)</script> & more")
    text = page(tmp_path)
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more" in text
    assert "<script>alert" not in text
    assert "6 of 7 runs are done" in re.sub(r"\s+", " ", text)


def test_a_study_without_a_single_finished_run_is_a_page_that_says_so(tmp_path):
    record(tmp_path, "lbf", "base", 0, "waiting")
    text = page(tmp_path)
    assert "0 of 1 runs are done" in re.sub(r"\s+", " ", text)
    assert "No learner of lbf has met strangers" in text


def test_runs_that_were_not_evaluated_show_the_matrix_that_they_measured_themselves(trained, tmp_path):
    shutil.copytree(trained / "cells", tmp_path / "cells")
    text = page(tmp_path)
    assert text.count('<table class="matrix">') == 2
    assert "Nothing was measured." in text


def test_a_method_that_failed_on_all_seeds_does_not_hide_the_others(tmp_path):
    whole_study(tmp_path, TWO, seeds=3)
    for seed in range(3):
        shutil.rmtree(tmp_path / f"cells/reaching/independent/seed{seed}")
        record(tmp_path, "reaching", "independent", seed, "failed", "out of memory")
    text = page(tmp_path)
    assert text.count("out of memory") == 6  # over its square, and in the list
    assert text.count('<table class="matrix">') == 3


def test_a_custom_game_without_heuristics_is_reported_and_played_only_if_that_is_allowed(tmp_path, monkeypatch):
    (tmp_path / "report_games.py").write_text(example("class Line"))
    monkeypatch.syspath_prepend(str(tmp_path))
    import report_games

    runs = [("base", 0), ("base", 1)]
    for method, seed in runs:
        untrained_cell(tmp_path, "my_line", method, seed, n_types=2, playing=report_games.Line())
    made_up_episodes(tmp_path, "my_line", runs, 2, {"base": 0.4}, heuristics=False)
    made_up_matrices(tmp_path, "my_line", runs, 2)
    write_rest(tmp_path, games=["my_line"], methods=["base"], seeds=[0, 1])
    monkeypatch.delitem(sys.modules, "report_games")
    report_games.Line.__name__ = "Forgotten"  # as if it had never been imported
    text = page(tmp_path, animated=1)
    assert text.count("can't be shown at play") == 1
    assert "let that be imported" in text
    assert "with generated teammates" in text
    assert (
        "with heuristics" not in text.partition('id="strangers"')[2].partition('id="diversity"')[0].partition("<svg")[2]
    )
    assert page(tmp_path, animated=1, allow_imports=True).count("data:image/gif") == 2


def test_a_report_that_can_not_be_written_is_refused_before_anything_is_drawn(trained, capsys):
    with pytest.raises(SystemExit):
        main(["report", str(trained), "--out", str(trained / "nowhere" / "report.html")])
    assert "there is no folder" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["report", str(trained), "--out", str(trained / "report.pdf")])
    assert "ends in none of .html" in capsys.readouterr().err
