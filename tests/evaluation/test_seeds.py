import pytest
import torch

from brdiv.commands import main
from brdiv.evaluation.seeds import measure, parse_seeds
from brdiv.evaluation.tables import print_seeds
from brdiv.games import LBF, Reaching
from brdiv.nets import Population
from brdiv.runs import PopulationFileError, RunFolder, save_population
from brdiv.study.many import claim_settings, train_seeds
from tests.fuzzing.populations import say_otherwise
from tests.small_runs import SMALL


def test_seeds_are_trained_measured_and_not_trained_twice(tmp_path, capsys):
    arguments = ["seeds", "--config", "reaching", "--seeds", "1-2", "--folder", str(tmp_path), "--data.steps", "256"]
    arguments += ["--episodes", "20", *SMALL[:-2], "--cross_play.final_episodes", "2"]
    main(arguments)
    out = capsys.readouterr().out
    assert "of 2 seeds gave teams none of which can stand in for another; " in out
    assert "of 2 gave every teammate a strategy of its own" in out
    assert (tmp_path / "phases.png").stat().st_size > 1000
    files = [tmp_path / f"seed{seed}" / "population.safetensors" for seed in (1, 2)]
    written = [file.stat().st_mtime_ns for file in files]
    main(arguments)
    assert [file.stat().st_mtime_ns for file in files] == written


def test_a_seed_that_fails_says_why(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["seeds", "--config", "reaching", "--seeds", "1", "--folder", str(tmp_path), "--data.steps", "3"])
    assert stop.value.code == 2
    assert "seed 1 failed: brdiv: error: steps is 3" in capsys.readouterr().err


def test_measuring_counts_distinct_strategies(tmp_path):
    """Four teams that all walk up and left: one strategy, and cross-play as good as self-play."""
    population = Population(4, 50, 5, [1])
    with torch.no_grad():
        for layer in population.layers:
            layer.weight.zero_()
        population.layers[-1].bias[..., 1] = 9.0
        population.layers[-1].bias[..., 3] = 9.0
    path = save_population(tmp_path / "p.safetensors", population, Reaching())
    result = measure(3, path, episodes=50)
    assert (result.seed, result.groups, result.strategies, result.complete) == (3, 1, 1, False)
    assert result.diagonal == pytest.approx(1.0, abs=0.02)
    assert result.off_diagonal == pytest.approx(1.0, abs=0.02)


def test_teams_that_never_meet_have_no_strategy(tmp_path):
    population = Population(4, 50, 5, [1])
    with torch.no_grad():
        population.layers[-1].weight.zero_()
        population.layers[-1].bias[..., 0] = 99.0  # stay
    result = measure(0, save_population(tmp_path / "p.safetensors", population, Reaching()), episodes=20)
    assert (result.groups, result.strategies, result.complete, result.diagonal) == (0, 0, False, 0.0)


def test_a_game_whose_ways_are_not_told_apart_counts_none(tmp_path, capsys):
    game = LBF(size=9, foods=6, horizon=5)  # with 720 orders
    population = Population(3, game.observation_size, game.n_actions, [4])
    result = measure(0, save_population(tmp_path / "p.safetensors", population, game), episodes=2)
    assert result.strategies is None
    print_seeds([result])
    assert "strategy of its own" not in capsys.readouterr().out


def test_results_of_other_settings_are_not_taken_for_these(tmp_path):
    claim_settings(tmp_path / "runs", ["--data.steps", "5"])
    claim_settings(tmp_path / "runs", ["--data.steps", "5"])
    with pytest.raises(ValueError, match="other settings"):
        claim_settings(tmp_path / "runs", ["--data.steps", "6"])


@pytest.mark.parametrize(("text", "seeds"), [("4", [4]), ("0-2", [0, 1, 2]), ("1,5-6,5", [1, 5, 6])])
def test_seeds_are_numbers_and_ranges(text, seeds):
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize(
    "text", ["", "a", "3-", "-3", "1,,2", "5-2", "0,5-2", "4294967296", "0-10000", "0-9999,7", "²", "1" * 5000]
)
def test_other_seeds_are_refused(text):
    with pytest.raises(ValueError, match="seeds"):
        parse_seeds(text)


def test_methods_are_compared_in_one_table(tmp_path, capsys):
    arguments = ["compare", "--config", "reaching", "--methods", "base", "independent", "--seeds", "1"]
    arguments += ["--folder", str(tmp_path), "--data.steps", "256", *SMALL[:-2], "--cross_play.final_episodes", "2"]
    arguments += ["--episodes", "20"]
    main(arguments)
    out = capsys.readouterr().out
    assert "BRDiv " in out
    assert "Independent " in out
    lines = (tmp_path / "compare.md").read_text().splitlines()
    assert len(lines) == 4
    rows = (tmp_path / "compare.csv").read_text().splitlines()
    assert [row.split(",")[:2] for row in rows[1:]] == [["base", "1"], ["independent", "1"]]
    assert (tmp_path / "independent" / "seed1" / "population.safetensors").exists()


def test_an_unknown_method_is_refused_before_training(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["compare", "--config", "reaching", "--methods", "magic", "--folder", str(tmp_path)])
    assert "no config file magic" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_population_that_lay_in_the_folder_before_imports_nothing(tmp_path, monkeypatch):
    """Someone planted it: its module must not run because a folder is looked through."""
    (tmp_path / "planted_game.py").write_text("from pathlib import Path\nPath('imported').touch()\n")
    monkeypatch.chdir(tmp_path)
    path = save_population(
        tmp_path / "runs" / "seed0" / "population.safetensors", Population(2, 50, 5, [4]), Reaching()
    )
    say_otherwise(path, finished=True, game={"name": "X", "module": "planted_game", "settings": {}})
    last = RunFolder(path.parent).checkpoint(0)
    last.parent.mkdir()
    last.touch()
    claim_settings(tmp_path / "runs" / "new", [])
    (tmp_path / "runs" / "new" / "settings.json").rename(tmp_path / "runs" / "settings.json")
    with pytest.raises(PopulationFileError, match="if you trust the file"):
        list(train_seeds([0], tmp_path / "runs", [], jobs=1, threads=1, episodes=1))
    assert not (tmp_path / "imported").exists()
