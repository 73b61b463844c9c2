"""What the settings of training may be: known classes, strategies, configs by name, and the parser that says so."""

import inspect
import pydoc
import re
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from lightning.pytorch.cli import LightningArgumentParser

import brdiv.games
import brdiv.learners
import brdiv.objectives
import brdiv.rollouts
from brdiv.commands.line.help import tidy
from brdiv.commands.line.parser import RaisesErrors
from brdiv.configs import find_config
from brdiv.errors import UserError
from brdiv.games import Playable
from brdiv.learners import PPO
from brdiv.objectives import Objective
from brdiv.text import plain


def class_names(module: ModuleType, parent: type) -> list[str]:
    """Names of the classes below ``parent`` that a module exports, those that are only a base left out."""
    exported = [getattr(module, name) for name in module.__all__]
    classes = [item for item in exported if inspect.isclass(item) and parent in item.__mro__[1:]]
    return sorted(item.__name__ for item in classes if not inspect.isabstract(item))


CLASSES = {
    "data.game": sorted(class_names(brdiv.games, Playable) + class_names(brdiv.rollouts, Playable)),
    "model.objective": class_names(brdiv.objectives, Objective),
    "model.method": ["PPO", *class_names(brdiv.learners, PPO)],
}

PRECISIONS = {None, 32, "32", "32-true", "bf16", "bf16-mixed"}
"""What `trainer.precision` may be."""


class TrainingParser(RaisesErrors, LightningArgumentParser):
    """The options of training."""

    def format_help(self, *args: Any, **kwargs: Any) -> str:
        """Write help that is read from the top."""
        tidy(self)
        return str(super().format_help(*args, **kwargs))

    def error(self, message: str, ex: Exception | None = None) -> NoReturn:
        """Name the choices where a class isn't known."""
        for key, choices in CLASSES.items():
            if (f'key "{key}"' in message and "Got value: None" in message) or message.endswith(f"required: fit.{key}"):
                message = f"{key} is missing: give a --config, or one of {', '.join(choices)}"
            elif f'key "{key}"' in message and "import path" in message:
                message = f"{key}: no such class; known are {', '.join(choices)}, or give a dotted import path"
        if 'key "trainer.precision"' in message:
            check_precision(message.split("Given value: ")[-1].strip())
        if re.match(r"unrecognized arguments: (?!-)", message):
            message += "; options begin with --, as in --config FILE"
        super().error(message)


def wants_cross_play(objective: Any) -> bool:
    """Look up whether the objective's class learns from cross-play; where there is none, the parser complains later."""
    return objective is None or bool(pydoc.locate(objective.class_path).cross_play)  # type: ignore[attr-defined]


def class_name(setting: Any) -> str:
    """Name the class of a parsed `class_path` setting."""
    return str(setting.class_path).rpartition(".")[-1]


def check_strategy(strategy: Any) -> None:
    """Refuse strategies that would not do what they say with this model."""
    name = strategy if isinstance(strategy, str) else class_name(strategy)
    if name not in {"auto", "ddp", "DDPStrategy", "SingleDeviceStrategy"}:
        raise UserError(
            f"trainer.strategy is {plain(name, 60)}: use ddp for several devices. Networks of this size gain "
            "nothing by sharding, and processes that are forked or spawned from one that has parsed its arguments "
            "are not supported"
        )


def check_precision(precision: Any) -> None:
    """Refuse number formats in which nothing would be learned, or not what was asked for."""
    if precision not in PRECISIONS:
        raise UserError(
            f"trainer.precision is {plain(precision, 60)}: training knows 32-true and bf16-mixed. Games and "
            "collector play in float32, and float16 would need gradients whose scale is found by letting them overflow"
        )


def default_folder(config: Any) -> Path:
    """Name the folder of a run after what it trains."""
    name = f"{class_name(config.data.game)}-{class_name(config.model.objective)}-seed{config.seed_everything}"
    return Path("runs", name.lower())


def with_shipped_configs(arguments: list[str]) -> list[str]:
    """Replace the value of every `--config` by the file it names."""
    found: list[str] = []
    for argument in arguments:
        if found and found[-1] in {"--config", "-c"}:
            found.append(str(find_config(argument)))
        elif argument.startswith("--config="):
            found.append(f"--config={find_config(argument.removeprefix('--config='))}")
        else:
            found.append(argument)
    return found
