"""What a config says is looked at before anything is built of it."""

import pytest
import yaml
from jsonargparse import Namespace

from brdiv.commands import main
from brdiv.commands.line.config_checks import check_numbers, check_settings
from brdiv.errors import UserError
from tests.small_runs import SMALL

OBJECTIVE = "brdiv.objectives.BRDiv"
GAME = "brdiv.games.Reaching"


class Foreign:
    """A class whose types are known to a type checker alone."""

    def __init__(self, size: "Unknown" = 3) -> None:  # noqa: F821
        self.size = size


def test_classes_whose_types_are_not_known_here_are_left_alone():
    check_settings("data.game", Foreign, Namespace(size=None))


@pytest.mark.parametrize("wrong", [float("nan"), float("-inf"), 1e31, -1e31, 1e-31, 2**64])
def test_numbers_that_nothing_can_be_computed_with_are_refused_wherever_they_stand(wrong):
    for value in (wrong, [1.0, [wrong]], Namespace(class_path=GAME, init_args=Namespace(size=wrong))):
        with pytest.raises(UserError, match=r"^data\.game(\.size)? is "):
            check_numbers("data", Namespace(game=value))
    check_numbers("data", Namespace(game=[0, 0.0, -1e30, 1e-30, None, "x", True]))
    theirs = Namespace(class_path="my_module.Game", init_args=Namespace(horizon=wrong))
    check_numbers("data", Namespace(game=theirs))


def test_a_name_with_a_null_byte_in_a_config_is_refused(tmp_path, capsys):
    (tmp_path / "config.yaml").write_text('run: "a\\0b"')
    with pytest.raises(SystemExit):
        main(["fit", "--config", str(tmp_path / "config.yaml")])
    assert "it has a null byte" in capsys.readouterr().err


@pytest.mark.parametrize("number", ["9" * 5000, f"0x{'f' * 5000}"], ids=["decimal", "hexadecimal"])
def test_a_number_that_python_can_not_read_or_write_is_refused(number, tmp_path, capsys):
    (tmp_path / "config.yaml").write_text(f"data: {{ steps: {number} }}")
    for options in (["--config", str(tmp_path / "config.yaml")], ["--data.steps", number], [f"--data.steps={number}"]):
        with pytest.raises(SystemExit):
            main(["fit", "--config", "reaching", *options])
        assert "a number of a thousand digits and more" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried")]
)
def test_settings_that_ask_for_more_memory_than_there_is_get_one_line(error, monkeypatch, tmp_path, capsys):
    def build(*_):
        raise error

    monkeypatch.setattr("brdiv.objectives.BRDiv.build", build)
    with pytest.raises(SystemExit):
        main(["fit", "--config", "reaching", *SMALL, "--run", str(tmp_path / "run")])
    assert "this takes more memory than this machine has" in capsys.readouterr().err


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
            "model.objective.patience is inf: it must be 0, or a number from 1e-30 to 1e+30",
        ),
        (nested(size=None), "data.game.size is null"),
        (nested(horizon=10**30), "data.game.horizon is 1000000000000000000000000000000: that is too large"),
        ({"plastic": {"episodes": 10**400}}, "plastic.episodes is 1000"),
        ({"plastic": {"episodes": 1e308}}, "plastic.episodes is 1e+308: it must be"),
        ({"plastic": {"episodes": 10**12}}, "plastic with 1000000000000 episodes: that takes at least"),
        ({"cross_play": {"final_episodes": 10**12}}, "cross_play with 1000000000000 episodes of each pair"),
        ({"lr_scheduler": [0] * 1000}, "lr_scheduler is [0, 0"),
        (nested(size=[0] * 1000), "data.game.size is [0, 0"),
        ({"trainer": {"gradient_clip_val": 1e308}}, "trainer.gradient_clip_val is 1e+308: it must be 0, or a number"),
        ({"trainer": {"overfit_batches": 1e308}}, "trainer.overfit_batches is 1e+308: it must be 0, or a number"),
        ({"trainer": {"overfit_batches": 1e20}}, "trainer.overfit_batches is 1e+20: it must be at most"),
        ({"trainer": {"overfit_batches": 1e-20}}, "trainer.overfit_batches is 1e-20: of "),
        ({"data": {"game": {"class_path": "brdiv.games.Playable"}}}, "data.game is Playable: name a game"),
        (
            {"model": {"objective": {"class_path": OBJECTIVE, "init_args": {"full_return": 1e-46}}}},
            "full_return is 1e-46: it must be 0, or a number from 1e-30",
        ),
        (nested(goals=[[0, 0], "x" * 5000]), 'Parser key "goals": Expected'),
        ({"trainer": {"devices": 2**32}}, "trainer.devices is 4294967296: it must be at most 65,536"),
        ({"trainer": {"num_nodes": 2**32}}, "trainer.num_nodes is 4294967296: it must be at most 65,536"),
        ({"model": {"actor_weight": 1e39}}, "actor_weight is 1e+39: it must be 0, or a number from 1e-30"),
        (
            {"model": {"objective": {"class_path": OBJECTIVE, "init_args": {"pressure": 1e39}}}},
            "pressure is 1e+39: it must be 0, or a number from 1e-30",
        ),
        ({"trainer": {"strategy": "x" * 5000}}, "trainer.strategy is xxx"),
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
