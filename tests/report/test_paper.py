"""Verdicts on the paper's claims follow from the numbers, and go no further than these."""

import shutil

import pytest

from brdiv.report.paper import findings
from brdiv.report.results import read_game
from brdiv.report.study import read_study
from tests.report.studies import METHODS, made_up_matrices, made_up_strategies, whole_study

AHEAD = {method: 0.8 if method == "base" else 0.5 for method in METHODS}


def verdicts(folder):
    """Verdict on each claim, by game and source."""
    study = read_study(folder)
    found = findings([read_game(study, game) for game in study.games])
    return {(finding.game, finding.source, finding.claim.split()[0]): finding for finding in found}


@pytest.fixture(scope="module")
def ahead(tmp_path_factory):
    """A study in which BRDiv is ahead."""
    return whole_study(tmp_path_factory.mktemp("ahead"), AHEAD)


def of(folder, source, word="", game="Reaching"):
    (found,) = (f for (g, s, w), f in verdicts(folder).items() if (g, s) == (game, source) and w.startswith(word))
    return found


@pytest.mark.parametrize("source", ["Figure 4a", "Figure 4d"])
def test_it_holds_that_our_learner_is_best_if_it_is_above_all_seven_baselines(ahead, source):
    found = of(ahead, source)
    assert (found.verdict, found.found.split(";")[0]) == ("holds", "above 7 of 7 baselines")
    assert found.interval.low == pytest.approx(0.3, abs=0.02)


def test_it_does_not_hold_if_one_baseline_is_above(tmp_path):
    found = of(whole_study(tmp_path, {**AHEAD, "trajedi05": 0.9}), "Figure 4a")
    assert found.verdict == "does not hold"
    assert "other side of TrajeDi05" in found.found


def test_it_cant_be_told_from_two_seeds(tmp_path):
    found = of(whole_study(tmp_path, AHEAD, seeds=2), "Figure 4a")
    assert (found.verdict, found.found) == ("can't be told", "2 seeds of BRDiv: too few, 3 are needed")


def test_it_cant_be_told_if_the_intervals_overlap(tmp_path):
    assert of(whole_study(tmp_path, {**AHEAD, "independent": 0.8}), "Figure 4a").verdict == "can't be told"


def test_it_cant_be_told_of_all_baselines_if_some_are_missing(tmp_path):
    few = {method: AHEAD[method] for method in ("base", "independent")}
    found = of(whole_study(tmp_path, few), "Figure 4a")
    assert found.verdict == "can't be told"
    assert "not compared with TrajeDi0, TrajeDi025" in found.found


def test_what_the_paper_says_of_cooking_is_turned_round(tmp_path):
    study = whole_study(tmp_path, AHEAD, game="cooking", n_types=3)
    assert of(study, "Figure 4c", game="Cooking").verdict == "does not hold"


def test_heuristics_that_the_paper_excepts_may_be_lost(ahead, tmp_path):
    study = shutil.copytree(ahead, tmp_path / "copy")
    path = study / "evaluation/reaching/episodes.csv"
    lines = path.read_text().splitlines()

    def lose(*names):
        changed = [
            ",".join([*parts[:8], "0.1", parts[9]])
            if (parts := line.split(","))[0] == "base" and parts[6] in names
            else line
            for line in lines
        ]
        path.write_text("\n".join(changed))

    lose("H8", "H10")
    assert of(study, "Figure 5a").verdict == "holds"
    lose("H8", "H3")
    found = of(study, "Figure 5a")
    assert found.verdict == "does not hold"
    assert "not with H3 and H8" in found.found


def test_a_baseline_that_was_not_evaluated_leaves_it_open_whether_ours_is_best_with_each(ahead, tmp_path):
    study = shutil.copytree(ahead, tmp_path / "copy")
    path = study / "evaluation/reaching/episodes.csv"
    lines = [line for line in path.read_text().splitlines() if not line.startswith("trajedi1,")]
    path.write_text("\n".join(lines))
    found = of(study, "Figure 5a")
    assert found.verdict == "can't be told"
    assert "not compared with TrajeDi1" in found.found


def test_diversity_and_return_correlate_if_they_go_together(tmp_path):
    study = whole_study(tmp_path, AHEAD, others={method: 1.0 - level for method, level in AHEAD.items()})
    assert of(study, "Section 6.4", "BRDiv").verdict == "holds"
    runs = [(method, seed) for method in AHEAD for seed in range(5)]
    made_up_matrices(study, "reaching", runs, 4, others=AHEAD)
    assert of(study, "Section 6.4", "BRDiv").verdict == "does not hold"


def test_four_corners_are_counted_by_seeds(ahead, tmp_path):
    assert of(ahead, "Figure 8").found == "a corner for each teammate in 5 of 5 seeds"
    assert of(ahead, "Figure 8").verdict == "holds"
    study = shutil.copytree(ahead, tmp_path / "copy")
    made_up_strategies(study, "reaching", [("base", seed) for seed in range(5)], 4, alike=("base",))
    assert of(study, "Figure 8").verdict == "does not hold"


def test_games_that_are_not_here_are_said_not_to_be(ahead):
    found = of(ahead, "Figure 4b", game="LBF")
    assert (found.verdict, found.found) == ("can't be told", "the game is not part of this study")
