"""Loading the populations of many runs, to be compared."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from brdiv.errors import UserError
from brdiv.games import Playable
from brdiv.nets import Population
from brdiv.runs import RunFolder, SavedPopulation, load_population
from brdiv.text import plain


class Run(NamedTuple):
    """A population and where it comes from."""

    name: str
    path: Path
    method: str
    seed: int
    population: Population
    game: Playable
    sha256: str
    files: list[Path]  # all files that hold it


def load_runs(paths: Sequence[Path], allow_imports: bool = False) -> list[Run]:
    """Load populations from files, run folders, or folders of runs; all of one game.

    What an interrupted run left in a folder is skipped; named itself, it is taken.
    """
    loaded = {}
    for path in paths:
        for file in find_populations(path):
            saved = load_population(file, allow_imports)
            if saved.about.get("finished", True) or path.resolve() in {file, file.parent}:
                loaded[file] = saved
            else:
                print(f"skipped: {file}, whose run was interrupted", file=sys.stderr)
    files = drop_doubles(loaded)
    if not loaded:
        raise UserError("no finished run among these")
    labels = method_labels([saved.about for saved in loaded.values()])
    runs: list[Run] = []
    for (path, (population, game, about)), label in zip(loaded.items(), labels, strict=True):
        seed = int(about.get("seed", 0))
        name = f"{label} seed {seed}"
        if any(run.name == name for run in runs):
            name = f"{name} ({path})"
        sha256 = about["sha256"]
        runs.append(Run(name, path, label, seed, population, game, sha256, files[sha256]))
    check_same_game(runs)
    return runs


def drop_doubles(loaded: dict[Path, SavedPopulation]) -> dict[str, list[Path]]:
    """Forget populations that are there twice, which would count as several seeds; returns all files by content."""
    files: dict[str, list[Path]] = {}
    for path, saved in list(loaded.items()):
        same = files.setdefault(saved.about["sha256"], [])
        if same:
            print(f"skipped: {path}, the same population as {same[0]}", file=sys.stderr)
            del loaded[path]
        same.append(path)
    return files


def select_runs(runs: Sequence[Run], paths: Sequence[Path]) -> list[Run]:
    """Return those of the runs that some paths name. All are loaded together, so one run has one name throughout."""
    files = {file for path in paths for file in find_populations(path)}
    found = [run for run in runs if files.intersection(run.files)]
    if not found:
        raise UserError(f"no finished run in {', '.join(map(str, paths))}")
    return found


def find_populations(path: Path) -> list[Path]:
    """Find population files: the path itself, or all below a folder."""
    path = path.resolve()
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise UserError(f"no population file or run folder {path}")
    name = RunFolder(path).population.name
    found = sorted(path.rglob(name))
    if not found:
        raise UserError(f"{path} holds no {name}")
    return found


def method_labels(abouts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name the method of each run; where one was run with several settings, with those that differ.

    Otherwise seeds of different experiments would be counted as seeds of one.
    """
    methods = [about.get("method", {}) for about in abouts]
    names = [plain(method.get("label") or method.get("name") or "unknown") for method in methods]
    settings = [method.get("settings", {}) for method in methods]
    labels = []
    for name, own in zip(names, settings, strict=True):
        same = [other for other_name, other in zip(names, settings, strict=True) if other_name == name]
        differ = [key for key in own if any(other.get(key) != own[key] for other in same)]
        labels.append(" ".join([name, *(plain(f"{key}={own[key]}") for key in differ)]))
    return labels


def check_same_game(runs: Sequence[Run]) -> None:
    """Refuse populations of different games: they can't play with each other."""
    first = runs[0]
    for run in runs[1:]:
        if not run.game.same_as(first.game):
            ours, theirs = (plain(f"{type(r.game).__name__}{r.game.settings()}") for r in (first, run))
            raise UserError(f"{run.path} plays {theirs}, and {first.path} plays {ours}: evaluate them apart")
