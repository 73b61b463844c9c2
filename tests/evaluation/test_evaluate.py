import csv
import json
import math

import pytest
import torch

from brdiv.commands import main
from brdiv.evaluation.evaluate import evaluate, recognition
from brdiv.evaluation.runs import load_runs, method_labels, select_runs
from brdiv.evaluation.scores import Cell, Evaluation, SelfPlay
from brdiv.games import LBF, Reaching
from brdiv.nets import Population
from brdiv.rollouts import Gymnasium
from brdiv.runs import save_population
from tests.teamwork.test_plastic import corner_seekers


def save(folder, population=None, game=None, method="BRDiv", seed=0):
    game = game or Reaching()
    torch.manual_seed(seed)
    population = population or Population(3, game.observation_size, game.n_actions, [8])
    about = {"method": {"name": method, "label": method, "settings": {}}, "seed": seed, "steps": 1}
    return save_population(folder / "population.safetensors", population, game, about)


@pytest.fixture
def runs(tmp_path):
    for seed in range(2):
        save(tmp_path / "runs" / f"good{seed}", corner_seekers(certainty=5.0 + seed), method="Good", seed=seed)
        save(tmp_path / "runs" / f"new{seed}", method="New", seed=seed)
    return tmp_path / "runs"


def test_a_prepared_learner_does_better_with_heuristics_than_a_random_one(runs, tmp_path, capsys):
    main(["evaluate", str(runs), "--episodes", "40", "--out", str(tmp_path / "out")])
    out = capsys.readouterr().out
    assert "PLASTIC with strangers" in out
    everything = json.loads((tmp_path / "out" / "evaluation.json").read_text())
    good, new = everything["methods"]
    assert (good["method"], good["seeds"], good["tasks"]) == ("Good", 2, 11)
    assert good["iqm"]["low"] > new["iqm"]["high"]
    assert good["robustness"]["value"] < good["mean"]["value"]
    with (tmp_path / "out" / "cells.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 * 11
    assert {row["episodes"] for row in rows} == {"40"}
    assert {row["teammate"] for row in rows} == {f"H{number}" for number in range(1, 12)}
    for ending in ("png", "pdf"):
        assert (tmp_path / "out" / f"heatmap.{ending}").stat().st_size > 1000


def test_generated_strangers_leave_out_what_the_learner_was_prepared_with(runs):
    everyone = load_runs([runs])
    assert [run.name for run in everyone] == ["Good seed 0", "Good seed 1", "New seed 0", "New seed 1"]
    evaluation = evaluate(everyone, everyone, episodes=5)
    assert len(evaluation.cells) == 4 * (4 + 4 + 3 + 3)
    for cell in evaluation.cells:
        if cell.method == "New":
            assert cell.seen == cell.teammate.startswith(cell.run + " #")
    # The other seed of its own method, and all of the other method: the same two tasks for everyone.
    assert evaluation.tasks == ["Good", "New"]
    assert evaluation.scores("Good").shape == (2, 2)
    assert evaluation.scores("New").shape == (2, 2)
    own = [c.mean_return for c in evaluation.cells if c.run == "New seed 0" and c.task == "New" and not c.seen]
    assert len(own) == 3
    assert evaluation.scores("New")[0, 1] == pytest.approx(sum(own) / 3)


def test_the_same_population_is_one_seed_wherever_it_lies(runs, capsys):
    save(runs / "copy", corner_seekers(certainty=5.0), method="Good", seed=7)
    everyone = load_runs([runs, runs / "good0", runs / ".." / "runs" / "new0"])
    assert [run.name for run in everyone] == ["Good seed 7", "Good seed 1", "New seed 0", "New seed 1"]
    assert "the same population as" in capsys.readouterr().err
    # Named by its other file it is still found.
    assert [run.name for run in select_runs(everyone, [runs / "good0"])] == ["Good seed 7"]


def test_methods_are_scored_on_the_same_tasks(tmp_path):
    """A method with one seed knows all of its own teammates: then that task counts for nobody."""
    save(tmp_path / "a", corner_seekers(), method="A")
    for seed in range(2):
        save(tmp_path / f"b{seed}", method="B", seed=seed)
    everyone = load_runs([tmp_path])
    evaluation = evaluate(everyone, everyone, episodes=2)
    assert evaluation.tasks == ["A", "B"]
    assert evaluation.common_tasks() == ["B"]
    assert [evaluation.scores(method).shape for method in ("A", "B")] == [(1, 1), (2, 1)]


def test_heuristics_and_runs_can_be_met_together(runs, tmp_path):
    arguments = ["evaluate", str(runs / "new0"), "--teammates", "heuristics", str(runs / "good0")]
    main([*arguments, "--episodes", "2", "--out", str(tmp_path / "out")])
    everything = json.loads((tmp_path / "out" / "evaluation.json").read_text())
    assert {cell["task"] for cell in everything["cells"]} == {*(f"H{k}" for k in range(1, 12)), "Good"}


def test_what_an_interrupted_run_left_is_skipped(runs, capsys):
    half = {"method": {"name": "New", "label": "New"}, "seed": 1, "finished": False}
    game = Reaching()
    path = save_population(runs / "new1-2" / "population.safetensors", Population(3, 50, 5, [8]), game, half)
    assert len(load_runs([runs])) == 4
    assert "interrupted" in capsys.readouterr().err
    assert len(load_runs([path])) == 1


def test_runs_with_other_settings_are_not_seeds_of_one_method():
    method = {"name": "LIPO", "label": "LIPO"}
    abouts = [{"method": {**method, "settings": {"cross_play_weight": w, "against": "best"}}} for w in (0.5, 0.5, 0.7)]
    abouts.append({"method": {"name": "BRDiv", "label": "BRDiv", "settings": {"cross_play_weight": 1.0}}})
    assert method_labels(abouts) == [
        "LIPO cross_play_weight=0.5",
        "LIPO cross_play_weight=0.5",
        "LIPO cross_play_weight=0.7",
        "BRDiv",
    ]


def cells(method, seed, *returns):
    return [
        Cell(f"{method} {seed}", method, seed, f"H{k}", f"H{k}", False, value, value / 2, 9.0, 64)
        for k, value in enumerate(returns)
    ]


def test_scores_have_a_row_for_each_seed_and_a_column_for_each_teammate():
    """The guard against stacking episodes on the run axis: however many episodes, runs are seeds."""
    everything = [*cells("A", 0, 0.1, 0.2, 0.3), *cells("A", 1, 0.4, 0.5, 0.6), *cells("B", 0, 0.7, 0.8, 0.9)]
    own = [
        SelfPlay("A 0", "A", 0, 1.0, 5.0, 6.0, [0.5, 0.8]),
        SelfPlay("A 1", "A", 1, 2.0, 4.0, 9.0, [0.5, 1.0]),
        SelfPlay("B 0", "B", 0, 3.0, 5.0, 5.0, [0.5]),
    ]
    evaluation = Evaluation("Reaching", everything, own, 0.99)
    assert evaluation.scores("A").tolist() == [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]
    first, second = evaluation.summary()
    assert first["mean"].value == pytest.approx(0.35)
    assert first["robustness"].value == pytest.approx(0.175)
    assert first["self_play_steps"] == [4.0, 9.0]
    assert first["recognised"] == pytest.approx(0.9)
    assert math.isnan(second["iqm"].low)
    assert evaluation.correlation() == pytest.approx(1.0)
    assert evaluation.cell_estimate("A", "H1").value == pytest.approx(0.35)


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main([*arguments])
    assert stop.value.code == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    return line


def test_bad_input_gets_one_clear_line(runs, tmp_path, capsys):
    other = save(tmp_path / "other", game=LBF())
    first = runs / "good0"
    assert "evaluate them apart" in refused(capsys, "evaluate", str(first), str(other))
    assert "evaluate them apart" in refused(capsys, "evaluate", str(first), "--teammates", str(other))
    assert "no population file or run folder" in refused(capsys, "evaluate", str(tmp_path / "none"))
    assert "no population file or run folder" in refused(capsys, "evaluate", str(first), "--teammates", "H99")
    (tmp_path / "empty").mkdir()
    assert "holds no population.safetensors" in refused(capsys, "evaluate", str(tmp_path / "empty"))
    assert "episodes is 0" in refused(capsys, "evaluate", str(first), "--episodes", "0")
    assert "gamma is 2" in refused(capsys, "evaluate", str(first), "--gamma", "2")
    assert not list(tmp_path.glob("evaluation*"))


def test_a_game_without_heuristics_says_so(tmp_path, capsys):
    pytest.importorskip("lbforaging")
    save(tmp_path / "foreign", game=Gymnasium("lbforaging:Foraging-5x5-2p-1f-v3"))
    assert "if you trust the file" in refused(capsys, "evaluate", str(tmp_path / "foreign"))
    complaint = refused(capsys, "evaluate", str(tmp_path / "foreign"), "--allow-imports")
    assert "Gymnasium has no heuristic teammates" in complaint


def test_a_learner_soon_knows_its_own_teammates(runs):
    (run,) = load_runs([runs / "good0"])
    curve = recognition(run, 200, torch.Generator().manual_seed(0))
    assert curve[0] < curve[2] < curve[-1]
    assert curve[-1] > 0.95
