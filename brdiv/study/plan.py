"""What a study is of: a file is read and checked, and becomes a list of cells, one for each game, method and seed."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from brdiv.configs import find_config, shipped_configs
from brdiv.errors import LARGEST_SEED, UserError
from brdiv.evaluation.seeds import parse_seeds
from brdiv.runs.description import is_whole
from brdiv.study.cells import Cell

BLOCK = ("games", "methods", "seeds", "overrides", "learners", "learner_overrides")
KEYS = (*BLOCK, "also", "threads", "gpus", "evaluation")
BASE = "base"  # the method that is the game's config as it stands
MOST_GPUS = MOST_THREADS = 1024
MOST_EPISODES = 1_000_000
PLASTIC = "plastic"  # the learner that is evaluated in any case: it needs no training
SET_PER_CELL = ("seed_everything", "run", "threads", "ckpt_path", "teammates")


class Measuring(NamedTuple):
    """How populations are evaluated."""

    episodes: int = 64  # of a learner with each heuristic
    generated_episodes: int = 16  # of a learner with each team of every other run
    cross_play_episodes: int = 256  # of each pair of a population
    seed: int = 0


class Taught(NamedTuple):
    """A learner that is trained with the teammates of every population."""

    name: str
    config: Path
    overrides: Mapping[str, Any]


class Group(NamedTuple):
    """A method on a game: what all of its seeds have in common."""

    game: str
    method: str
    configs: tuple[Path, ...]
    overrides: Mapping[str, Any]
    seeds: tuple[int, ...]
    learners: tuple[Taught, ...] = ()

    @property
    def name(self) -> str:
        """Name it as its folder is."""
        return f"{self.game}/{self.method}"


@dataclass(frozen=True)
class Study:
    """A study as its file gives it."""

    path: Path
    given: Mapping[str, Any]
    groups: tuple[Group, ...]
    threads: int = 1
    gpus: float = 0.0
    evaluation: Measuring = field(default_factory=Measuring)

    def cells(self, folder: Path) -> list[Cell]:
        """Every cell, in the order in which they are trained, in a folder for the study.

        Behind the populations of a method on a game come the learners that are trained with them.
        """
        found: list[Cell] = []
        for group in self.groups:
            own = folder / "cells" / group.game / group.method
            populations = [Cell(own, seed, group.game, group.method, self.threads) for seed in group.seeds]
            found += populations
            for learner in group.learners:
                there = folder / "learners" / group.game / group.method / learner.name
                found += [cell._replace(folder=there, learner=learner.name, needs=cell) for cell in populations]
        return found


def read_study(name: str) -> Study:
    """Read and check a study's file: a path, or a shipped one by name. Nothing is built yet."""
    path = find_config(f"studies/{name}" if f"studies/{name}" in shipped_configs() else name)
    try:
        given = yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        raise UserError(f"{path} is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(given, dict):
        raise UserError(f"{path} is not a study: it must be a mapping with {', '.join(KEYS)}")
    check_keys(given, KEYS, "")
    groups = merge(group for block in blocks(given) for group in block_groups(block))
    threads, gpus = given.get("threads", 1), given.get("gpus", 0)
    if not is_whole(threads, 1, MOST_THREADS):
        raise UserError(f"threads is {threads}: it must be a whole number from 1 to {MOST_THREADS:,}")
    if type(gpus) not in {int, float} or not 0 <= gpus <= MOST_GPUS:  # so no NaN
        raise UserError(f"gpus is {gpus}: it must be a number from 0 to {MOST_GPUS:,}")
    return Study(path, given, groups, threads, float(gpus), read_measuring(or_none(given, "evaluation", {})))


def blocks(given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the blocks of a study: the one at its top, then those of `also`, which say only what differs from it."""
    top = {key: given[key] for key in BLOCK if key in given}
    yield top
    also = or_none(given, "also", [])
    if not isinstance(also, list):
        raise UserError("also is no list: it must be a list of blocks with " + ", ".join(BLOCK))
    for number, block in enumerate(also, 1):
        if not isinstance(block, dict):
            raise UserError(f"also: block {number} is {block!r}: it must be a mapping with {', '.join(BLOCK)}")
        check_keys(block, BLOCK, f"also, block {number}: ")
        yield {**top, **block}


def block_groups(block: Mapping[str, Any]) -> Iterator[Group]:
    """Yield the groups of one block."""
    for key in ("games", "methods"):
        if not block.get(key):
            raise UserError(f"{key} is missing: a study needs at least one")
    seeds = read_seeds(block.get("seeds", 0))
    overrides = or_none(block, "overrides", {})
    if not isinstance(overrides, dict):
        raise UserError("overrides is no mapping: it must hold settings of `brdiv fit`, as in {data: {steps: 1000000}}")
    check_overrides(overrides, "overrides")
    learners = tuple(block_learners(block))
    for game in names(block["games"], "games"):
        for method in names(block["methods"], "methods"):
            configs = (find_config(game), *method_configs(method))
            yield Group(stem(game), stem(method), configs, overrides, tuple(seeds), learners)


def block_learners(block: Mapping[str, Any]) -> Iterator[Taught]:
    """Yield the learners of one block that are trained: shipped ones by name, or files of `brdiv learn`."""
    overrides = or_none(block, "learner_overrides", {})
    if not isinstance(overrides, dict):
        raise UserError("learner_overrides is no mapping: it must hold settings of `brdiv learn`")
    check_overrides(overrides, "learner_overrides")
    data = overrides.get("data")
    for name in ("game", "teammates"):
        if isinstance(data, dict) and name in data:
            raise UserError(f"learner_overrides: data.{name} is that of the populations")
    found = {PLASTIC}
    for learner in dict.fromkeys(names(or_none(block, "learners", []), "learners")):
        if learner == PLASTIC:
            continue
        if stem(learner) in found:
            raise UserError(f"two learners are called {stem(learner)}: give one of their files another name")
        found.add(stem(learner))
        shipped = f"learners/{learner}"
        yield Taught(stem(learner), find_config(shipped if shipped in shipped_configs() else learner), overrides)


def check_overrides(overrides: Mapping[str, Any], key: str) -> None:
    """Refuse what the study itself sets."""
    for name in SET_PER_CELL:
        if name in overrides:
            raise UserError(f"{key}: {name} is set for each cell by the study")


def merge(groups: Iterator[Group]) -> tuple[Group, ...]:
    """Refuse seeds that are there twice, and put groups of one name together where only their seeds differ."""
    found: dict[str, Group] = {}
    for group in groups:
        other = found.get(group.name)
        if other is None:
            found[group.name] = group
            continue
        if (other.configs, other.overrides) != (group.configs, group.overrides):
            raise UserError(f"two methods are called {group.name}: give one of their files another name")
        if other.learners != group.learners:
            raise UserError(f"{group.name} is there twice, with other learners")
        twice = sorted(set(other.seeds) & set(group.seeds))
        if twice:
            raise UserError(f"{group.name} is there twice with seed {twice[0]}")
        found[group.name] = other._replace(seeds=(*other.seeds, *group.seeds))
    return tuple(found.values())


def method_configs(method: str) -> list[Path]:
    """Find what puts a method on top of a game: nothing, a shipped method by name, or a file."""
    if method == BASE:
        return []
    shipped = f"methods/{method}"
    return [find_config(shipped if shipped in shipped_configs() else method)]


def names(given: Any, key: str) -> list[str]:
    """Read a list of names, or one."""
    found = [given] if isinstance(given, str) else given
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise UserError(f"{key} is {given!r}: it must be a list of names or files")
    return found


def stem(name: str) -> str:
    """Name a folder after a config: its file's name without the ending."""
    found = Path(name).name.removesuffix(".yaml").removesuffix(".yml")
    if not re.fullmatch(r"[\w.+-]+", found) or found.startswith("."):
        raise UserError(f"{name!r} can't be the name of a folder: use letters, digits, and any of . _ + -")
    return found


def read_seeds(given: Any) -> list[int]:
    """Read seeds: a number, a list of numbers, or text as in 0-4.

    >>> read_seeds(3), read_seeds([1, 2]), read_seeds("0-2,7")
    ([3], [1, 2], [0, 1, 2, 7])
    """
    found = [given] if is_seed(given) else given
    if isinstance(found, str):
        return parse_seeds(found)
    if not isinstance(found, list) or not found or not all(is_seed(seed) for seed in found):
        raise UserError(f"seeds is {given!r}: give numbers and ranges, as in 0-4, or a list of numbers")
    return list(dict.fromkeys(found))


def read_measuring(given: Any) -> Measuring:
    """Read how to evaluate."""
    if not isinstance(given, dict):
        raise UserError(f"evaluation is {given!r}: it must be a mapping with {', '.join(Measuring._fields)}")
    check_keys(given, Measuring._fields, "evaluation: ")
    for key, value in given.items():
        least = 0 if key == "seed" else 1
        most = LARGEST_SEED if key == "seed" else MOST_EPISODES
        if not is_whole(value, least, most):
            raise UserError(f"evaluation: {key} is {value}: it must be a whole number from {least} to {most:,}")
    return Measuring(**given)


def check_keys(given: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    """Refuse keys that nobody would look at."""
    for key in given:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise UserError(f"{where}no such setting {key}; {hint}")


def or_none(given: Mapping[str, Any], key: str, none: Any) -> Any:
    """Look a key up that may be left out, or be null."""
    value = given.get(key)
    return none if value is None else value


def is_seed(value: Any) -> bool:
    """Whether something can be a seed."""
    return is_whole(value, 0, LARGEST_SEED)
