"""What a config may say, looked at before anything is built of it."""

import inspect
import pydoc
import types
from typing import Any, Union, get_args, get_origin

from jsonargparse import Namespace

from brdiv.errors import LARGEST_NUMBER, LARGEST_SEED, LEAST_NUMBER, MOST_STEPS, UserError
from brdiv.text import plain

MOST_BITS = 63  # of a whole number, as torch has them
BATCHES = ("limit_train_batches", "overfit_batches")
MOST = {**dict.fromkeys(BATCHES, MOST_STEPS), "devices": 2**16, "num_nodes": 2**16}


def check_groups(config: Any, classes: dict[str, type]) -> None:
    """Refuse something else where a group of settings should stand, and null where a value is needed."""
    for name, kind in classes.items():
        group = config.get(name)
        if not isinstance(group, Namespace):
            raise UserError(f"{name} is {plain(group, 60)}: it must hold settings, each in a line of its own")
        check_numbers(name, group)
        check_settings(name, kind, group)


def check_numbers(name: str, value: Any) -> None:
    """Refuse numbers that nothing can be computed with, wherever they stand; classes that are not ours know theirs."""
    if isinstance(value, Namespace):
        if str(value.get("class_path", "brdiv.")).startswith("brdiv."):
            for key, inner in vars(value).items():
                check_numbers(name if key == "init_args" else f"{name}.{key}", inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            check_numbers(name, inner)
    elif isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise UserError(f"{name} is {plain(value, 40)}: that is too large a number")
    elif isinstance(value, float) and value and not LEAST_NUMBER <= abs(value) <= LARGEST_NUMBER:
        raise UserError(f"{name} is {value}: it must be 0, or a number from {LEAST_NUMBER:g} to {LARGEST_NUMBER:g}")


def check_settings(name: str, kind: type, settings: Namespace) -> None:
    """Refuse null where a value is needed, also in the settings of classes by name."""
    try:
        parameters = inspect.signature(kind, eval_str=True).parameters
    except (AttributeError, NameError, TypeError, ValueError):  # of somebody's class, whose types are not known here
        return
    for key, parameter in parameters.items():
        value = settings.get(key)
        if key in settings and value is None and not takes_none(parameter):
            raise UserError(f"{name}.{key} is null: it must have a value")
        if isinstance(value, Namespace) and isinstance(value.get("init_args"), Namespace):
            named = pydoc.locate(value.class_path)
            if isinstance(named, type):
                check_settings(f"{name}.{key}", named, value.init_args)


def takes_none(parameter: inspect.Parameter) -> bool:
    """Whether a parameter may be None."""
    hint = parameter.annotation
    if hint is inspect.Parameter.empty or parameter.default is None or hint is Any:
        return True
    return get_origin(hint) in {Union, types.UnionType} and type(None) in get_args(hint)


def check_seed(seed: Any) -> None:
    """Refuse what no random generator can be started with."""
    if type(seed) is not int or not 0 <= seed <= LARGEST_SEED:
        raise UserError(f"seed_everything is {plain(seed, 60)}: it must be a whole number from 0 to {LARGEST_SEED:,}")


def check_trainer(trainer: Any) -> None:
    """Refuse settings of the Trainer that it would stumble over later."""
    every = trainer.get("log_every_n_steps")
    if every is not None and every < 1:
        raise UserError(f"trainer.log_every_n_steps is {every}: it must be at least 1")
    for name, most in MOST.items():
        value = trainer.get(name)
        if isinstance(value, int | float) and not value <= most:
            raise UserError(f"trainer.{name} is {plain(value, 40)}: it must be at most {most:,}")
    clip = trainer.get("gradient_clip_val")
    if clip is not None and clip < 0:
        raise UserError(f"trainer.gradient_clip_val is {plain(clip, 40)}: it must not be negative")


def check_shares(trainer: Any, updates: int) -> None:
    """Refuse a share of a run's updates that is less than one."""
    for name in BATCHES:
        share = trainer.get(name)
        if isinstance(share, float) and 0 < share < 1 and share * updates < 1:
            raise UserError(f"trainer.{name} is {share}: of {updates:,} updates that is less than one")
