"""What a config says is looked at before anything is built of it."""

import pytest
import yaml
from jsonargparse import Namespace

from brdiv.commands import main
from brdiv.commands.line.config_checks import check_settings
from tests.small_runs import SMALL

OBJECTIVE = "brdiv.objectives.BRDiv"
GAME = "brdiv.games.Reaching"


class Foreign:
    """A class whose types are known to a type checker alone."""

    def __init__(self, size: "Unknown" = 3) -> None:  # noqa: F821
        self.size = size


def test_classes_whose_types_are_not_known_here_are_left_alone():
    check_settings("data.game", Foreign, Namespace(size=None))


def nested(**values):
    return {"data": {"game": {"class_path": GAME, "init_args": values}}}


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (
            {"model": {"objective": {"class_path": OBJECTIVE, "init_args": {"rise": None}}}},
            "model.objective.rise is null",
        ),
        (
            {"model": {"objective": {"class_path": OBJECTIVE, "init_args": {"patience": float("inf")}}}},
            "patience is inf: it must be finite",
        ),
        (nested(size=None), "data.game.size is null"),
        (nested(horizon=10**30), "data.game.horizon is 1000000000000000000000000000000: that is too large"),
        ({"plastic": {"episodes": 10**400}}, "plastic.episodes is 1000"),
        ({"plastic": {"episodes": 1e308}}, "plastic.episodes is 1e+308: it must be a whole number"),
        ({"plastic": {"episodes": 10**12}}, "plastic with 1000000000000 episodes: that takes at least"),
        ({"cross_play": {"final_episodes": 10**12}}, "cross_play with 1000000000000 episodes of each pair"),
        ({"lr_scheduler": [0] * 1000}, "lr_scheduler is [0, 0"),
        (nested(size=[0] * 1000), "data.game.size is [0, 0"),
        ({"trainer": {"gradient_clip_val": 1e308}}, "trainer.gradient_clip_val is 1e+308: it must be a number from 0"),
        ({"trainer": {"overfit_batches": 1e308}}, "trainer.overfit_batches is 1e+308: it must be at most"),
        ({"trainer": {"overfit_batches": 1e-46}}, "trainer.overfit_batches is 1e-46: of "),
        ({"data": {"game": {"class_path": "brdiv.games.Playable"}}}, "data.game is Playable: name a game"),
        ({"trainer": {"gradient_clip_val": -1}}, "trainer.gradient_clip_val is -1"),
        ({"trainer": {"num_nodes": -1, "fast_dev_run": True}}, "trainer: `num_nodes` must be a positive integer"),
    ],
)
def test_settings_that_make_no_sense_get_one_short_line_and_leave_nothing(settings, told, tmp_path, capsys):
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump(settings))
    with pytest.raises(SystemExit) as stop:
        main(
            [
                "fit",
                "--config",
                "reaching",
                *SMALL,
                "--data.steps",
                "1280",
                "--config",
                str(config),
                "--run",
                str(tmp_path / "run"),
            ]
        )
    assert stop.value.code == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert told in line
    assert len(line) < 700
    assert not (tmp_path / "run").exists()
