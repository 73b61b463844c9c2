"""What a study's folder holds: which runs there are, how they ended, and what they are of."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from brdiv.errors import UserError
from brdiv.evaluation.seeds import parse_seeds
from brdiv.runs import PopulationFileError, RunFolder, read_about

DONE, FAILED, MISSING = "done", "failed", "missing"


class StudyCell(NamedTuple):
    """One run of a study: a method on a game with a seed."""

    game: str  # stem of the game's config
    method: str  # stem of the method's config
    seed: int
    state: str  # done, failed, missing, or whatever the study says of it: waiting, running
    why: str
    seconds: float
    steps: int
    run: RunFolder
    about: Mapping[str, Any]  # what its population file says of itself; nothing where there is none
    planned_label: str = ""  # what the study file calls its method

    @property
    def label(self) -> str:
        """Name of the method as its paper writes it, or the config's where nothing says it."""
        return str(self.about.get("method", {}).get("label") or self.planned_label or self.method)

    @property
    def objective(self) -> str:
        """Name of the method's class; empty where that isn't known."""
        return str(self.about.get("method", {}).get("name") or "")


class Study(NamedTuple):
    """All of a study but its measurements."""

    folder: Path
    given: Mapping[str, Any]  # study.yaml
    versions: Mapping[str, Any]  # versions.json
    cells: list[StudyCell]

    @property
    def games(self) -> list[str]:
        """Games in the order of the study."""
        return list(dict.fromkeys(cell.game for cell in self.cells))

    def evaluation(self, game: str, name: str) -> Path:
        """Name a table of a game's evaluation."""
        return self.folder / "evaluation" / game / f"{name}.csv"

    def labels(self, game: str) -> dict[str, str]:
        """Label of each method of a game by its config's stem; two methods of one label are told apart by the stem."""
        labels: dict[str, str] = {}
        for cell in self.cells:
            if cell.game == game and (cell.about or cell.method not in labels):
                labels[cell.method] = cell.label
        names = list(labels.values())
        return {stem: f"{label} ({stem})" if names.count(label) > 1 else label for stem, label in labels.items()}


def read_study(folder: Path) -> Study:
    """Read what a study's folder says of its runs."""
    if not folder.is_dir():
        raise UserError(f"no study folder {folder}")
    if not (folder / "cells").is_dir():
        raise UserError(f"{folder} is not the folder of a study: it has no cells/")
    given = read_yaml(folder / "study.yaml")
    asked_for = planned(given)
    games, methods = ([str(key[at]) for key in asked_for] for at in (0, 1))
    found = dict.fromkeys([*asked_for, *on_disk(folder)])

    def place(key: tuple[str, str, int]) -> tuple[int, str, int, str, int]:
        game, method, seed = key
        base = [] if "base" in methods else ["base"]  # BRDiv first where the study doesn't say
        return rank(game, games), game, rank(method, [*base, *methods]), method, seed

    cells = [read_cell(folder, *key)._replace(planned_label=asked_for.get(key, "")) for key in sorted(found, key=place)]
    if not cells:
        raise UserError(f"{folder} holds no runs yet")
    return Study(folder, given, read_json(folder / "versions.json"), cells)


def rank(name: str, order: list[str]) -> int:
    """Where a name stands in a list, or after its end."""
    return order.index(name) if name in order else len(order)


def names(given: Mapping[str, Any], key: str) -> list[str]:
    """Stems of the configs that a study lists under a key, a list or a mapping."""
    listed = given.get(key)
    return [Path(name).stem for name in listed if isinstance(name, str)] if isinstance(listed, list | dict) else []


def planned(given: Mapping[str, Any]) -> dict[tuple[str, str, int], str]:
    """Cells that a study file asks for, in its order, each with its method's label where the file says that.

    What the study came to, if it is written there, else games x methods x seeds.
    """
    resolved = given.get("resolved")
    groups = resolved.get("groups") if isinstance(resolved, dict) else None
    if not isinstance(groups, list):
        return dict.fromkeys(product_of(given), "")
    found = {}
    for group in groups:
        if isinstance(group, dict) and {"game", "method", "seeds"} <= group.keys():
            for seed in group["seeds"]:
                found[str(group["game"]), str(group["method"]), int(seed)] = str(group.get("label") or "")
    return found


def product_of(given: Mapping[str, Any]) -> Iterator[tuple[str, str, int]]:
    """Games x methods x seeds of a study file; none where it says so in a way that isn't known here."""
    seeds = given.get("seeds")
    if isinstance(seeds, str | int) and not isinstance(seeds, bool):
        try:
            seeds = parse_seeds(str(seeds))
        except UserError:
            seeds = None
    if isinstance(seeds, list) and all(isinstance(seed, int) for seed in seeds):
        for game in names(given, "games"):
            for method in names(given, "methods"):
                yield from ((game, method, seed) for seed in seeds)


def on_disk(folder: Path) -> Iterator[tuple[str, str, int]]:
    """Cells that left something in the folder."""
    for path in sorted((folder / "cells").glob("*/*/seed*")):
        number = path.name.removeprefix("seed").partition(".")[0]
        if number.isdecimal() and (path.is_dir() or path.suffix == ".json"):
            yield path.parent.parent.name, path.parent.name, int(number)


def read_cell(folder: Path, game: str, method: str, seed: int) -> StudyCell:
    """Read how one run ended."""
    run = RunFolder(folder / "cells" / game / method / f"seed{seed}")
    record = read_json(run.path.with_suffix(".json"))
    state, why, about = str(record.get("state", MISSING)), str(record.get("why") or ""), {}
    try:
        about = read_about(run.path)
        if not record:  # whoever trained it left no record: the file itself says whether the run is through
            state = DONE if about.get("finished", True) else "unfinished"
    except PopulationFileError as error:
        if state == DONE:
            state, why = FAILED, str(error)
    steps = int(record.get("steps") or about.get("steps") or 0)
    return StudyCell(game, method, seed, state, why, float(record.get("seconds") or 0.0), steps, run, about)


def read_json(path: Path) -> dict[str, Any]:
    """Read a mapping; nothing where it isn't there or is damaged, which must not cost anyone the report."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a mapping; nothing where it isn't there or is damaged."""
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return {}
    return found if isinstance(found, dict) else {}
