"""What a study's folder holds: which runs there are, how they ended, and what they are of."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from brdiv.errors import UserError
from brdiv.evaluation.seeds import parse_seeds
from brdiv.runs import RunFolder, about_learner, read_about

DONE, FAILED, MISSING = "done", "failed", "missing"
UNSAID = ("", 0)  # label and steps of what no study file speaks of


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
    planned_steps: int = 0  # of the whole run, as the study file says; 0 where it doesn't
    learner: str = ""  # stem of the learner's config, of a learner that is trained with the population

    @property
    def label(self) -> str:
        """Name of the method as its paper writes it, or the config's where nothing says it."""
        return str(self.about.get("method", {}).get("label") or self.planned_label or self.learner or self.method)

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
    learner_cells: list[StudyCell]  # of learners that are trained with the populations of ``cells``

    @property
    def all_cells(self) -> list[StudyCell]:
        """Populations and learners."""
        return [*self.cells, *self.learner_cells]

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
        return tell_apart(labels)

    def learner_labels(self, game: str) -> dict[str, str]:
        """Label of each learner of a game by its config's stem, as its paper writes it where anything says so."""
        return tell_apart({cell.learner: cell.label for cell in self.learner_cells if cell.game == game})


def tell_apart(labels: dict[str, str]) -> dict[str, str]:
    """Write the stem behind a label that several have."""
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
    pairs = list(dict.fromkeys(key[:2] for key in asked_for))
    found = dict.fromkeys([*asked_for, *on_disk(folder)])

    def place(key: tuple[str, str, int]) -> tuple[int, str, int, int, str, int]:
        game, method, seed = key
        base = [] if "base" in methods else ["base"]  # BRDiv first where the study doesn't say
        in_game = pairs.index((game, method)) if (game, method) in pairs else len(pairs)
        return rank(game, games), game, in_game, rank(method, [*base, *methods]), method, seed

    cells = []
    for key in sorted(found, key=place):
        label, steps = asked_for.get(key, UNSAID)
        cells.append(read_cell(folder, *key)._replace(planned_label=label, planned_steps=steps))
    if not cells:
        raise UserError(f"{folder} holds no runs yet")
    return Study(folder, given, read_json(folder / "versions.json"), cells, read_learner_cells(folder, given, cells))


def read_learner_cells(folder: Path, given: Mapping[str, Any], cells: Sequence[StudyCell]) -> list[StudyCell]:
    """Read how the runs of learners ended: those that the study came to, and those that left something."""
    planned = {
        (str(group["game"]), str(group["method"]), str(learner["learner"])): learner
        for group in groups_of(given)
        for learner in group.get("learners") or []
        if isinstance(learner, dict) and "learner" in learner
    }
    found = []
    for cell in cells:
        there = folder / "learners" / cell.game / cell.method
        asked_for = [name for game, method, name in planned if (game, method) == (cell.game, cell.method)]
        on_disk = sorted(path.parent.name for path in there.glob(f"*/seed{cell.seed}.json"))
        for name in dict.fromkeys([*asked_for, *on_disk]):
            told = planned.get((cell.game, cell.method, name), {})
            run = RunFolder(there / name / f"seed{cell.seed}")
            read = read_run(run, lambda run=run: about_learner(run.learner))  # type: ignore[misc]
            label, steps = str(told.get("label") or ""), int(told.get("steps") or 0)
            found.append(StudyCell(cell.game, cell.method, cell.seed, *read, label, steps, name))
    return found


def rank(name: str, order: list[str]) -> int:
    """Where a name stands in a list, or after its end."""
    return order.index(name) if name in order else len(order)


def names(given: Mapping[str, Any], key: str) -> list[str]:
    """Stems of the configs that a study lists under a key, a list or a mapping."""
    listed = given.get(key)
    return [Path(name).stem for name in listed if isinstance(name, str)] if isinstance(listed, list | dict) else []


def planned(given: Mapping[str, Any]) -> dict[tuple[str, str, int], tuple[str, int]]:
    """Cells that a study file asks for, in its order, each with its method's label and its steps where the file says.

    What the study came to, if it is written there, else games x methods x seeds.
    """
    if not groups_of(given):
        return dict.fromkeys(product_of(given), UNSAID)
    return {
        (str(group["game"]), str(group["method"]), int(seed)): (
            str(group.get("label") or ""),
            int(group.get("steps") or 0),
        )
        for group in groups_of(given)
        for seed in group["seeds"]
    }


def groups_of(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what a study came to, a method on a game each; nothing where its file doesn't say."""
    resolved = given.get("resolved")
    groups = resolved.get("groups") if isinstance(resolved, dict) else None
    found = groups if isinstance(groups, list) else []
    return [group for group in found if isinstance(group, dict) and {"game", "method", "seeds"} <= group.keys()]


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
    """Read how the run of a population ended."""
    run = RunFolder(folder / "cells" / game / method / f"seed{seed}")
    return StudyCell(game, method, seed, *read_run(run, lambda: read_about(run.path)))


def read_run(
    run: RunFolder, read: Callable[[], dict[str, Any]]
) -> tuple[str, str, float, int, RunFolder, Mapping[str, Any]]:
    """Read how a run ended: its state and why, seconds, steps, and what its file says of itself."""
    record = read_json(run.path.with_suffix(".json"))
    state, why, about = str(record.get("state", MISSING)), str(record.get("why") or ""), {}
    try:
        about = read()
        if not record:  # whoever trained it left no record: the file itself says whether the run is through
            state = DONE if about.get("finished", True) else "unfinished"
    except UserError as error:
        if state == DONE:
            state, why = FAILED, str(error)
    steps = int(record.get("steps") or about.get("steps") or 0)
    return state, why, float(record.get("seconds") or 0.0), steps, run, about


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
