"""Trained learners beside PLASTIC in an evaluation, and what is possible."""

import json

import pytest
import torch

from brdiv.commands import main
from brdiv.errors import UserError
from brdiv.evaluation.bounds import bounds_of
from brdiv.evaluation.evaluate import evaluate
from brdiv.evaluation.prepared import load_prepared
from brdiv.evaluation.scores import Cell, Evaluation
from brdiv.evaluation.written import possible_table
from brdiv.games import LBF, Reaching
from brdiv.recurrent import RecurrentActorCritic
from brdiv.runs import load_population, save_learner
from tests.doors.populations import small_file


def learner_file(folder, name="learner.safetensors", **about):
    game = Reaching()
    torch.manual_seed(0)
    net = RecurrentActorCritic(game.observation_size, game.n_actions, [8], 4)
    method = {"name": "PPO", "label": "PPO", "settings": {}}
    folder.mkdir(exist_ok=True)
    return save_learner(folder / name, net, game, {"method": method, "seed": 0, **about})


def test_learners_are_evaluated_beside_plastic_and_without(tmp_path, capsys):
    population = small_file(tmp_path)
    files = [learner_file(tmp_path / f"seed{s}", seed=s, prepared_with=["BRDiv"]) for s in range(2)]
    common = ["--episodes", "2", "--out", str(tmp_path / "both")]
    main(["evaluate", population, "--learner", "plastic", *map(str, files), *common])
    everything = json.loads((tmp_path / "both" / "evaluation.json").read_text())
    assert [(m["method"], m["seeds"]) for m in everything["methods"]] == [("unknown", 1), ("PPO (BRDiv)", 2)]
    main(["evaluate", "--learner", str(files[0].parent), "--episodes", "2", "--out", str(tmp_path / "alone")])
    assert "learners with strangers" in capsys.readouterr().out
    alone = json.loads((tmp_path / "alone" / "evaluation.json").read_text())
    assert [m["method"] for m in alone["methods"]] == ["PPO (BRDiv)"]
    assert len(alone["cells"]) == 11


def test_nobody_to_evaluate_is_one_clear_line(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["evaluate"])
    assert "runs is missing: name population files" in capsys.readouterr().err


def test_whom_a_learner_was_trained_or_tuned_with_are_no_strangers(tmp_path, capsys):
    population = small_file(tmp_path)
    sha256 = load_population(population).about["sha256"]
    trained = learner_file(tmp_path / "a", teammates=["H1"], populations=[sha256])
    tuned = learner_file(tmp_path / "b", validation=[sha256], seed=1)
    main(["evaluate", "--learner", str(trained), str(tuned), "--teammates", "heuristics", population,
          "--episodes", "1", "--out", str(tmp_path / "out")])  # fmt: skip
    cells = json.loads((tmp_path / "out" / "evaluation.json").read_text())["cells"]
    seen = {(c["seed"], c["teammate"]) for c in cells if c["seen"]}
    generated = {(seed, f"unknown seed 0 #{k}") for seed in (0, 1) for k in (1, 2, 3)}
    assert seen == {(0, "H1"), *generated}
    out = capsys.readouterr().out
    assert "strangers   test: heuristics" in out
    assert "strangers   training, left out for learners prepared with them: unknown seed 0" in out


def test_learners_of_different_games_are_evaluated_apart(tmp_path):
    torch.manual_seed(0)
    game = LBF()
    net = RecurrentActorCritic(game.observation_size, game.n_actions, [8], 4)
    other = save_learner(tmp_path / "other.safetensors", net, game, {})
    with pytest.raises(ValueError, match="play different games"):
        evaluate([], None, 1, trained=load_prepared([learner_file(tmp_path), other]))


def test_returns_are_shown_as_shares_of_what_is_possible():
    cells = [Cell("A 0", "A", 0, name, name, False, value, 0.0, 1.0, 1) for name, value in
             {"H1": 0.5, "H2": 0.3, "H3": 0.01}.items()]  # fmt: skip
    evaluation = Evaluation("Reaching", cells, [], 0.99, {"H1": 1.0, "H2": 0.6, "H3": 0.02})
    summary = evaluation.summary()
    assert summary[0]["share"] == pytest.approx(0.5)
    assert summary[0]["regret"] == pytest.approx((0.5 + 0.3 + 0.01) / 3)
    rows = possible_table(evaluation, summary).rows
    assert rows[0] == ["H1", "1.000", "50.0%"]
    assert rows[2] == ["H3 (nobody can)", "0.020", "-"]
    assert rows[3] == ["mean share", "", "50.0%"]


def test_bounds_are_those_of_the_very_game(tmp_path):
    told = {"game": {"name": "Reaching", "settings": json.loads(json.dumps(Reaching().settings()))},
            "bounds": {"H1": {"mean_return": 0.9}}}  # fmt: skip
    (tmp_path / "reaching.json").write_text(json.dumps(told))
    assert bounds_of(Reaching(), tmp_path) == {"H1": 0.9}
    assert bounds_of(Reaching(horizon=7), tmp_path) == {}
    assert bounds_of(LBF(), tmp_path) == {}


GAME = {"name": "Reaching", "settings": {}}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "its description can't be read"),
        (b"\xff\xfe", "its description can't be read"),
        (b"[" * 100_000, "its description can't be read"),
        (b" " * (2 << 20), "it is larger than"),
        (b"{}", "it doesn't say its game"),
        ({"game": GAME}, "it doesn't say what each teammate's best response earns"),
        ({"game": GAME, "bounds": [1]}, "it doesn't say what each"),
        ({"game": GAME, "bounds": {"H1": 1.0}}, "it doesn't say what each"),
        ({"game": GAME, "bounds": {"H1": {"mean_return": "1"}}}, "it doesn't say what each"),
        ({"game": GAME, "bounds": {"H1": {"mean_return": True}}}, "it doesn't say what each"),
        ({"game": GAME, "bounds": {"H1": {"mean_return": 10**400}}}, "it doesn't say what each"),
        (b'{"game": {"name": "Reaching"}, "bounds": {"H1": {"mean_return": 1e999}}}', "it doesn't say what each"),
    ],
)
def test_damaged_bounds_are_refused_in_one_line(content, told, tmp_path):
    (tmp_path / "reaching.json").write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    with pytest.raises(UserError, match=f"reaching.json has no bounds of a game: .*{told}"):
        bounds_of(Reaching(), tmp_path)


def test_bounds_that_are_no_file_are_refused(tmp_path):
    (tmp_path / "reaching.json").mkdir()
    with pytest.raises(UserError, match="it is no file at all"):
        bounds_of(Reaching(), tmp_path)
