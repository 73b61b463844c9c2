"""The page is whole, says what is missing, and needs nothing but itself."""

import re
import shutil
import sys

import pytest

from brdiv.commands import main
from brdiv.evaluation.bounds import bounds_of
from brdiv.games import Reaching, shipped_games
from brdiv.report import write_report
from brdiv.report.results import known_bounds
from tests.report.studies import (
    add_learner,
    made_up_episodes,
    made_up_matrices,
    record,
    train_cell,
    untrained_cell,
    untrained_learner,
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


def missing_of(text):
    """The table of what is missing."""
    part = text.partition('<details id="missing"')[2].partition("</details>")[0]
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in part.split("<tr>")[2:]]
    return [tuple(row) for row in rows]


def test_a_study_that_was_stopped_in_its_last_game_says_what_that_lacks_and_shows_the_others(tmp_path):
    whole_study(tmp_path, TWO, seeds=5)
    (tmp_path / "cells/reaching/base/seed4/population.safetensors").unlink()
    record(tmp_path, "reaching", "base", 4, "failed", "loss is not finite")
    untrained_cell(tmp_path, "cooking", "base", 0, 8)
    record(tmp_path, "cooking", "base", 1, "waiting")
    steps = {"reaching": 4_000_000, "cooking": 40_000_000}
    groups = [
        {"game": game, "method": method, "label": label, "seeds": list(range(5)), "steps": steps[game]}
        for game in steps
        for method, label in (("base", "BRDiv"), ("independent", "Independent"))
    ]
    write_rest(tmp_path, games=list(steps), methods=list(TWO), seeds="0-4", resolved={"groups": groups})
    text = page(tmp_path)
    summary = re.sub(r"\s+", " ", re.sub("<.*?>", "", text))
    assert "10 of 20 runs are done, 10 are missing; 1 of those that are done was not evaluated." in summary
    assert "Of the study's runs 10 are missing; with them a verdict may be another." in summary
    assert missing_of(text) == [
        ("Reaching", "BRDiv", "1", "4", "failed", "loss is not finite; 1,536 steps are trained"),
        ("Cooking", "BRDiv", "1", "0", "not evaluated", "it has met no strangers: brdiv study FILE --evaluate"),
        ("Cooking", "BRDiv", "1", "1", "waiting", "1,536 steps are trained"),
        ("Cooking", "BRDiv", "3", "2, 3, 4", "missing", ""),
        ("Cooking", "Independent", "5", "0, 1, 2, 3, 4", "missing", ""),
    ]
    strangers = text.partition('id="strangers"')[2].partition('id="teammates"')[0]
    assert "There is no evaluation of Cooking yet" in strangers
    assert strangers.count("</svg>") == 1, "Reaching is shown"
    assert "4<small> of 5</small>" in strangers
    assert "40,000,000" in text.partition('id="made"')[2], "the budget is that of a whole run"


def test_a_run_whose_evaluation_was_interrupted_is_said_to_lack_some(tmp_path):
    whole_study(tmp_path, TWO, seeds=2)
    path = tmp_path / "evaluation/reaching/episodes.csv"
    path.write_text("\n".join(line for line in path.read_text().split("\n") if "independent,1,PLASTIC,gen" not in line))
    (row,) = missing_of(page(tmp_path))
    assert row[1:5] == ("Independent", "1", "1", "not evaluated")
    assert "only some strangers" in row[5]


def test_a_method_has_one_colour_in_all_games_whatever_their_order(tmp_path):
    for game, methods in (("reaching", ["base", "lipo", "independent"]), ("lbf", ["independent", "base", "lipo"])):
        for method in methods:
            untrained_cell(tmp_path, game, method, 0)
    groups = [
        {"game": game, "method": method, "label": method, "seeds": [0]}
        for game, methods in (("reaching", ["base", "lipo"]), ("lbf", ["independent", "lipo", "base"]))
        for method in methods
    ]
    write_rest(tmp_path, resolved={"groups": groups})
    text = page(tmp_path).partition('id="strangers"')[2].partition('id="teammates"')[0]
    rows = re.findall(r'<th><i class="dot" style="background:(#\w+)"></i>(\S+?)</th>', text)
    assert len(rows) == 6
    assert len(set(rows)) == len({label for _, label in rows}) == len({colour for colour, _ in rows}) == 3


def test_tasks_that_some_run_could_not_be_measured_in_are_left_out_for_all_and_named(tmp_path):
    whole_study(tmp_path, TWO, seeds=1)
    text = page(tmp_path).partition('id="strangers"')[2].partition('id="teammates"')[0]
    assert "did not meet strangers there: Independent, BRDiv." in text or "strangers there: BRDiv, Independent." in text


def test_teams_that_can_stand_in_for_each_other_or_have_not_learned_are_named_and_counted(tmp_path):
    whole_study(tmp_path, {"base": 0.8}, seeds=2, n_types=4)
    path = tmp_path / "evaluation/reaching/cross_play.csv"
    lines = path.read_text().splitlines()
    changed = {"base,0,1,3": "0.95", "base,0,3,1": "0.95", "base,1,2,2": "0.2"}
    for number, line in enumerate(lines):
        parts = line.split(",")
        if value := changed.get(",".join(parts[:4])):
            lines[number] = ",".join([*parts[:5], value, parts[6]])
    path.write_text("\n".join(lines) + "\n")
    text = page(tmp_path)
    assert "alike: 1=3" in text
    assert "alike: none; not learned: 2" in text
    assert "none alike in 0 of 2" in text
    steps = text.partition('id="steps"')[2].partition('id="populations"')[0]
    assert "1<small> of 8</small>" in steps, "teams that have not learned"


LEARNERS = {"base": 0.6, "independent": 0.3}


@pytest.fixture(scope="module")
def with_learners(tmp_path_factory):
    """A study of PLASTIC and PPO, of which one failed and one was never begun."""
    study = whole_study(tmp_path_factory.mktemp("learners"), TWO, seeds=3, learner="plastic")
    runs = [(method, seed) for method in TWO for seed in range(3)]
    runs.remove(("base", 2))
    runs.remove(("independent", 0))
    for method, seed in runs:
        untrained_learner(study, "reaching", method, seed)
    record(study, "reaching", "base", 2, "failed", "loss is not finite", learner="ppo")
    add_learner(study, "reaching", runs, 4, LEARNERS)
    learners = [{"learner": "ppo", "label": "PPO", "steps": 512}]
    groups = [
        {"game": "reaching", "method": method, "label": label, "seeds": [0, 1, 2], "learners": learners}
        for method, label in (("base", "BRDiv"), ("independent", "Independent"))
    ]
    write_rest(study, resolved={"groups": groups})
    return study


def cells_of(row):
    return [re.sub(r"<.*?>", "", cell).strip() for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]


def test_learners_stand_side_by_side_with_their_share_of_what_is_possible(with_learners):
    table = page(with_learners).partition("Learner by learner")[2].partition("</table>")[0]
    found = {tuple(cells[:3]): cells[3:] for row in table.split("<tr")[2:] if (cells := cells_of(row))}
    assert list(found) == [
        (method, learner, seeds)
        for method, learner, seeds in [
            ("BRDiv", "PLASTIC", "3"),
            ("BRDiv", "PPO", "2"),
            ("Independent", "PLASTIC", "3"),
            ("Independent", "PPO", "2"),
        ]
    ]
    bounds = bounds_of(Reaching())
    for (method, learner, _), (heuristics, share, generated) in found.items():
        level = (TWO if learner == "PLASTIC" else LEARNERS)["base" if method == "BRDiv" else "independent"]
        assert float(heuristics.split()[0]) == pytest.approx(level, abs=0.01)
        assert float(generated.split()[0]) == pytest.approx(level, abs=0.01)
        possible = sum(level / bound for bound in bounds.values()) / len(bounds)
        assert float(share.rstrip("%")) / 100 == pytest.approx(possible, abs=0.02)


def test_learners_that_are_missing_are_listed_and_populations_are_none_the_worse_for_it(with_learners):
    text = page(with_learners)
    assert missing_of(text) == [
        ("Reaching", "BRDiv + PPO", "1", "2", "failed", "loss is not finite; 1,536 steps are trained"),
        ("Reaching", "Independent + PPO", "1", "0", "missing", ""),
    ]
    summary = re.sub(r"\s+", " ", re.sub("<.*?>", "", text))
    assert "10 of 12 runs are done (6 populations, 6 learners trained with one), 2 are missing." in summary
    assert (
        len(re.findall(r'<figure class="wide"><svg', text.partition('id="strangers"')[2].partition('id="made"')[0]))
        == 6
    )


def test_claims_are_about_plastic_whoever_else_was_evaluated(with_learners, tmp_path):
    alone = shutil.copytree(with_learners, tmp_path / "alone")
    table = alone / "evaluation/reaching/episodes.csv"
    table.write_text("\n".join(line for line in table.read_text().split("\n") if ",ppo," not in line))
    shutil.rmtree(alone / "learners")
    write_rest(alone, games=["reaching"], methods=list(TWO), seeds="0-2")

    def claims(text):
        return text.partition("<tbody>\n<tr class")[2].partition("</tbody>")[0]

    assert claims(page(with_learners)) == claims(page(alone)) != ""


def test_with_plastic_alone_and_nothing_known_of_what_is_possible_there_is_no_table_of_learners(tmp_path):
    whole_study(tmp_path, TWO, seeds=2, game="cooking", n_types=3)
    assert "Learner by learner" not in page(tmp_path)


def test_a_study_without_a_single_finished_run_is_a_page_that_says_so(tmp_path):
    record(tmp_path, "lbf", "base", 0, "waiting")
    text = page(tmp_path)
    assert "0 of 1 runs are done" in re.sub(r"\s+", " ", text)
    assert "There is no evaluation of lbf yet" in text


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
    assert text.count("out of memory") == 3 + 1  # over each square, and in the list
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


def test_nobody_is_ahead_by_a_single_seed_where_others_have_more(tmp_path):
    study = whole_study(tmp_path, {"base": 0.8, "independent": 0.5}, seeds=3)
    untrained_cell(study, "reaching", "trajedi0", 0)
    runs = [(method, seed) for method in ("base", "independent") for seed in range(3)] + [("trajedi0", 0)]
    made_up_matrices(study, "reaching", runs, 4)
    made_up_episodes(study, "reaching", runs, 4, {**TWO, "trajedi0": 0.95})
    write_rest(study, games=["reaching"], methods=["base", "independent", "trajedi0"], seeds=[0, 1, 2])
    (first,) = re.findall(r'<p class="big">(.*?)</p>', page(study), re.DOTALL)
    assert first.endswith("BRDiv")


@pytest.mark.parametrize(
    "settings",
    [{"payoffs": [10**400, 1, 1, 1]}, {"payoffs": [[1, 2], 1, 1, 1]}, {"payoffs": 3}, {"magic": 1}],
    ids=["endless", "nested", "no list", "unknown"],
)
def test_settings_of_which_no_game_can_be_built_have_no_bounds(settings):
    assert known_bounds({"name": "Reaching", "module": "brdiv.games.reaching.rules", "settings": settings}) == {}


def test_only_a_shipped_game_has_its_bounds():
    class Reaching(shipped_games()["Reaching"]):
        """Another game of that name."""

    for module, bounds in (("brdiv.games.reaching.rules", bounds_of(shipped_games()["Reaching"]())), (__name__, {})):
        assert known_bounds({"name": "Reaching", "module": module, "settings": {}}) == bounds
    assert known_bounds({"name": "Reaching", "module": "not_imported", "settings": {}}) == {}
    assert bounds_of(Reaching()) == {}
