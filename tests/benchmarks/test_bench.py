import json

import pytest

from brdiv.benchmarks.limit import operations_per_update
from brdiv.benchmarks.scaling import Point, measure
from brdiv.commands import main
from brdiv.games import Reaching
from brdiv.objectives import BRDiv
from brdiv.training import RolloutData, TeammateGenerator
from tests.learners.small import SMALL


def test_every_game_is_timed(capsys):
    main(["bench", "--rows", "8", "--threads", "1"])
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line.split()[0] for line in lines] == ["Reaching", "LBF", "Cooking"]
    assert all(float(number.replace(",", "")) > 100 for line in lines for number in line.split()[1:])


@pytest.mark.parametrize("config", ["reaching", "lbf", "cooking"])
def test_training_is_timed_against_the_floor(config, capsys):
    main(
        [
            "bench",
            "--config",
            config,
            "--updates",
            "20",
            "--repeats",
            "1",
            "--threads",
            "1",
            "--model.hidden",
            "[8]",
            "--single",
        ]
    )
    out = capsys.readouterr().out.strip().splitlines()
    result = json.loads(out[-1])
    assert result["fraction_of_floor"] == pytest.approx(
        result["env_steps_per_second"] / result["floor_steps_per_second"], rel=0.01
    )
    assert result["fraction_of_limit"] == pytest.approx(
        result["env_steps_per_second"] / result["limit_steps_per_second"], abs=0.001
    )
    assert result["fraction_of_limit"] < result["fraction_of_floor"]  # which has operations between its products
    assert result["products"] in {"blas", "onednn", "both"}
    parts = result["milliseconds"]
    assert set(parts) == {
        "policy", "env", "collector_overhead", "loss_and_backward", "optimiser", "loop_overhead", "measuring",
    }  # fmt: skip
    assert all(value >= 0 for value in parts.values())
    assert parts["measuring"] > 0
    assert out[0].startswith(result["game"])  # and nothing of what the run prints
    assert result["hidden"] == [8]
    assert any(line.split()[:1] == ["floor"] for line in out)


def test_runs_side_by_side_are_timed_and_the_best_arrangement_is_named(monkeypatch, capsys):
    monkeypatch.setattr("brdiv.commands.bench.usable_cores", lambda: 2)
    monkeypatch.setattr("brdiv.commands.bench.bench_training", lambda *_: None)
    main(["bench", "--config", "reaching", "--updates", "20", "--model.hidden", "[8]", "--data.self_play_rows", "8"])
    _, *lines, best = capsys.readouterr().out.strip().splitlines()
    speeds = {tuple(line.split()[i] for i in (0, 3)): int(line.split()[-1].replace(",", "")) for line in lines}
    assert set(speeds) == {("1", "1"), ("1", "2"), ("2", "1")}
    assert min(speeds.values()) > 0
    runs, threads = max(speeds, key=lambda each: speeds[each])
    assert best.startswith(f"for several seeds: {runs} at a time, {threads} thread")


def test_a_failed_run_among_several_ends_the_benchmark_with_its_message(capsys):
    with pytest.raises(SystemExit):
        main(["bench", "--config", "reaching", "--updates", "20", "--model.gamma", "2"])
    assert "gamma is 2" in capsys.readouterr().err


def test_operations_are_those_of_the_products():
    """A layer of n inputs and m outputs multiplies and adds n m times per sample, and again for each gradient."""
    objective = BRDiv()
    data = RolloutData(Reaching(), n_types=2, self_play_rows=3, cross_play_rows=2, window=4, steps=100)
    module = TeammateGenerator(data.observation_size, data.n_actions, objective, n_types=2, hidden=[16])
    d, a, samples = data.observation_size, data.n_actions, 5 * 4 * 2
    actors = samples * 2 * (d * 16 + 16 * a) + samples * 2 * (2 * d * 16 + 3 * 16 * a)
    seen = 2 * (d + 2)
    critic = 5 * 4 * 2 * (2 * seen * 16 + 3 * 16) + 2 * 5 * 2 * (seen * 16 + 16)
    assert operations_per_update(module, data) == actors + critic


def test_misspelt_options_are_refused(capsys):
    with pytest.raises(SystemExit):
        main(["bench", "--row", "8"])
    assert "unrecognized arguments: --row 8" in capsys.readouterr().err


def test_scaling_is_measured_written_and_drawn(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("brdiv.benchmarks.scaling.ROWS", (10, 20))
    monkeypatch.setattr("brdiv.benchmarks.scaling.TYPES", (2, 3))
    asked = []

    def measure(arguments, rows, n_types, threads):
        asked.append((rows, n_types, threads))
        return Point(rows, n_types or 6, threads, 1000 * threads, 2.5, 300)

    monkeypatch.setattr("brdiv.benchmarks.scaling.measure", measure)
    main(["bench", "--config", "lbf", "--scaling", str(tmp_path / "out")])
    assert asked == [(10, None, 1), (20, None, 1), (10, None, 2), (20, None, 2), (10, 2, 2), (10, 3, 2)]
    lines = (tmp_path / "out" / "scaling.csv").read_text().splitlines()
    assert lines[0].split(",") == list(Point._fields)
    assert lines[-1] == "10,3,2,2000,2.5,300"
    assert (tmp_path / "out" / "scaling.png").stat().st_size > 1000
    assert "2,000" in capsys.readouterr().out


def test_one_point_of_the_scaling_is_a_benchmark():
    point = measure(["--config", "reaching", "--model.hidden", "[8]"], rows=10, n_types=3, threads=1)
    assert point[:3] == (10, 3, 1)
    assert min(point[3:]) > 0


def test_scaling_needs_a_config_that_exists(tmp_path, capsys):
    for arguments in (["--config", "nowhere.yaml"], []):
        with pytest.raises(SystemExit):
            main(["bench", *arguments, "--scaling", str(tmp_path)])
    assert "needs a config" in capsys.readouterr().err


def test_a_learner_is_measured_as_it_trains(capsys):
    options = ["--updates", "5", "--repeats", "1", "--teammates", "H1,H4", "--data.game", "Reaching"]
    main(["bench", "--learner", "--config", "learners/ppo", *SMALL, *options])
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (result["rows"], result["window"], result["teammates"], result["threads"]) == (8, 6, 2, 1)
    assert result["env_steps_per_second"] >= result["median"] >= result["slowest"] > 0


def test_a_learner_is_not_measured_without_a_config(capsys):
    with pytest.raises(SystemExit):
        main(["bench", "--learner"])
    assert "learner needs a config" in capsys.readouterr().err
