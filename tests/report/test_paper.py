"""Verdicts on the paper's claims follow from the numbers, and go no further than these."""

import shutil

import pytest

from brdiv.report.paper import findings
from brdiv.report.results import read_game
from brdiv.report.study import read_study
from tests.report.studies import (
    METHODS,
    made_up_episodes,
    made_up_matrices,
    made_up_strategies,
    whole_study,
    write_rest,
)

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


def apart(*methods):
    """Levels by which some methods' seeds differ widely, and the others' don't."""
    return AHEAD | {(method, seed): 0.5 + 0.1 * seed for method in methods for seed in range(5)}


def with_levels(folder, level):
    runs = [(method, seed) for method in METHODS for seed in range(5)]
    made_up_episodes(folder, "reaching", runs, 4, level)
    return folder


@pytest.mark.parametrize(
    ("wide", "verdict"),
    [
        ([method for method in METHODS if method != "base"], "holds"),
        (["independent", "trajedi0", "trajedi025", "trajedi05", "trajedi075"], "can't be told"),
        (["base"], "does not hold"),
    ],
)
def test_an_interval_is_narrower_than_those_of_all_baselines_of_most_or_of_less_than_half(
    wide, verdict, ahead, tmp_path
):
    study = with_levels(shutil.copytree(ahead, tmp_path / "copy"), apart(*wide))
    assert of(study, "Section 6.4", "Its").verdict == verdict


def test_two_seeds_say_nothing_of_intervals(tmp_path):
    found = of(whole_study(tmp_path, AHEAD, seeds=2), "Section 6.4", "Its")
    assert (found.verdict, found.found) == ("can't be told", "2 seeds: too few, 3 are needed")


@pytest.mark.parametrize(("ours", "verdict"), [(5.0, "holds"), (11.0, "does not hold")])
def test_teams_are_the_quickest_if_they_need_fewer_steps_than_all_baselines(ours, verdict, tmp_path):
    study = whole_study(tmp_path, AHEAD, game="cooking", n_types=3)
    runs = [(method, seed) for method in METHODS for seed in range(5)]
    made_up_matrices(study, "cooking", runs, 3, lengths={"base": ours})
    assert of(study, "Table 2", game="Cooking").verdict == verdict


@pytest.mark.parametrize(("sign", "verdict"), [(1, "holds"), (-1, "does not hold")])
def test_slower_teams_prepare_better_if_steps_and_return_go_together(sign, verdict, tmp_path):
    level = {method: 0.3 + 0.05 * number for number, method in enumerate(METHODS)}
    study = whole_study(tmp_path, level, game="cooking", n_types=3)
    runs = [(method, seed) for method in METHODS for seed in range(5)]
    lengths = {method: 20 + sign * 20 * value for method, value in level.items()}
    made_up_matrices(study, "cooking", runs, 3, lengths=lengths)
    assert of(study, "Section 6.5", game="Cooking").verdict == verdict


def test_a_correlation_over_few_runs_says_nothing(tmp_path):
    few = {"base": 0.8, "independent": 0.5, "trajedi0": 0.6}
    study = whole_study(tmp_path, few, others={method: 1.0 - level for method, level in few.items()}, seeds=3)
    found = of(study, "Section 6.4", "BRDiv")
    assert found.interval.low > 0.5
    assert found.verdict == "can't be told"
    assert "over 9 runs: too few, 10 are needed" in found.found


def test_all_heuristics_of_all_games_are_needed_to_say_that_ours_is_above_the_ablation(tmp_path):
    two = {"base": 0.8, "independent": 0.5}
    for game, n_types in (("reaching", 4), ("lbf", 6), ("cooking", 3)):
        whole_study(tmp_path, two, game=game, n_types=n_types, seeds=3, generated=False)
    write_rest(tmp_path, games=["reaching", "lbf", "cooking"], methods=list(two), seeds="0-2")
    found = of(tmp_path, "Section 6.4", "BRDiv's", game="all")
    assert (found.verdict, found.found) == ("holds", "above with 33 of 33 heuristics")
    shutil.rmtree(tmp_path / "evaluation/cooking")
    found = of(tmp_path, "Section 6.4", "BRDiv's", game="all")
    assert (found.verdict, found.found) == ("can't be told", "above with 21 of 21 heuristics; 2 of 3 games")
    runs = [(method, seed) for method in two for seed in range(3)]
    made_up_episodes(tmp_path, "lbf", runs, 6, {"base": 0.5, "independent": 0.8}, generated=False)
    assert of(tmp_path, "Section 6.4", "BRDiv's", game="all").verdict == "does not hold"


def test_games_that_are_not_here_are_said_not_to_be(ahead):
    found = of(ahead, "Figure 4b", game="LBF")
    assert (found.verdict, found.found) == ("can't be told", "the game is not part of this study")
