import csv

import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from brdiv.metrics import best_response_diversity, mean_diagonal, mean_off_diagonal
from tests.small_runs import train


def test_the_matrix_is_logged_every_so_often_and_at_the_end(tmp_path):
    run = train(tmp_path / "run", "--cross_play.every", "512", "--cross_play.episodes", "3")
    events = EventAccumulator(str(run), size_guidance={"images": 0})
    events.Reload()
    steps = [128, 512, 1024, 1536, 1536]  # the first one early
    for name in ("mean_diagonal", "mean_off_diagonal", "brdiv", "self_play_length"):
        assert [event.step for event in events.Scalars(f"cross_play/{name}")] == steps
    assert [image.step for image in events.Images("cross_play")] == steps

    with (run / "cross_play.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 5 * 16
    last = rows[-16:]
    assert [(row["teammate"], row["best_response"]) for row in last[:5]] == [
        ("1", "1"), ("1", "2"), ("1", "3"), ("1", "4"), ("2", "1"),
    ]  # fmt: skip
    assert {row["episodes"] for row in last} == {"4"}
    matrix = torch.tensor([float(row["mean_return"]) for row in last]).view(4, 4)
    for name, measure in (
        ("mean_diagonal", mean_diagonal),
        ("mean_off_diagonal", mean_off_diagonal),
        ("brdiv", best_response_diversity),
    ):
        assert abs(events.Scalars(f"cross_play/{name}")[-1].value - float(measure(matrix))) < 1e-4
    for team in range(4):
        logged = events.Scalars(f"diagonal/team_{team + 1}")
        assert [event.step for event in logged] == steps
        assert logged[-1].value == pytest.approx(float(matrix[team, team]), abs=1e-4)


@pytest.mark.parametrize(
    ("every", "updates"),
    [(0, [2, 40]), (1000, [2, 40]), (30, [2, 30, 40])],
    ids=["at the end only", "beyond the run", "later"],
)
def test_there_is_a_matrix_after_a_twentieth_of_the_run(every, updates, tmp_path):
    options = ["--cross_play.every", str(every * 128), "--cross_play.episodes", "1", "--plastic.episodes", "1"]
    run = train(tmp_path / "run", *options, "--data.game.horizon", "5", steps=128 * 40)
    with (run / "cross_play.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["step"]) // 128 for row in rows[::16]] == updates
