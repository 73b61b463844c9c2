"""The settings of a study's cells: resolved and checked before the first step, then kept beside the cells."""

import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from brdiv.errors import UserError
from brdiv.runs.whole import write_whole
from brdiv.study.cells import Cell
from brdiv.study.plan import SET_PER_CELL, Group, Study

LOGS = 10_000_000  # bytes that logs, tables and pictures of a run may take


class Resolved(NamedTuple):
    """What a method on a game comes to."""

    settings: dict[str, Any]  # every setting of `brdiv fit`
    label: str  # the method, as its paper writes it
    steps: int  # environment steps of a whole run
    checkpoint_bytes: int

    @property
    def run_bytes(self) -> int:
        """Disk space that a run takes at most: checkpoints that are kept, the best, one being written, and logs."""
        return (self.settings["checkpoints"]["keep"] + 2) * self.checkpoint_bytes + LOGS


Resolve = Callable[[str, Sequence[str], Mapping[str, Any], Mapping[str, Any]], Resolved]
"""Checks options of `brdiv fit` or `brdiv learn`, the first argument, with further settings on top, by building what
they describe. What was kept of an earlier time, the last argument, decides what is left to the machine."""


def resolve_all(study: Study, groups: Sequence[Group], folder: Path, resolve: Resolve) -> dict[str, Resolved]:
    """Resolve and check every group, and the learners that are trained with its populations, by name.

    Nothing is written. Settings that were kept beside cells win where the study leaves a choice to the machine, and
    must otherwise be the same: a cell is never trained half with one setting and half with another.
    """
    by_group: dict[str, list[Cell]] = {}
    for cell in study.cells(folder):
        by_group.setdefault(cell.group, []).append(cell)
    found: dict[str, Resolved] = {}
    changed: list[str] = []
    for group in groups:
        for name, command, options, overrides in parts(study, group, found):
            kept = read_settings(by_group[name][0].settings) or {}
            try:
                found[name] = resolve(command, options, overrides, kept)
            except UserError as error:
                raise UserError(f"{name}: {error}") from None
            begun = sum(cell.begun for cell in by_group[name])
            different = ", ".join(differences(kept, found[name].settings))
            if begun and different:
                changed.append(f"{name} ({begun} of its cells begun): {different}")
    if changed:
        raise UserError(
            f"nothing was done: settings have changed since cells were trained, {'; '.join(changed)}. "
            "Undo the change, remove the folders of these methods, or give another --folder"
        )
    return found


def parts(
    study: Study, group: Group, found: Mapping[str, Resolved]
) -> Iterator[tuple[str, str, list[str], Mapping[str, Any]]]:
    """Yield name, command, options and further settings of a group, then those of its learners.

    There are no populations yet, so a learner is built with as many others, on the game of the group.
    """
    threads = ["--threads", str(study.threads)]
    configs = [part for path in group.configs for part in ("--config", str(path))]
    yield group.name, "fit", [*configs, *threads], group.overrides
    for learner in group.learners:
        settings = found[group.name].settings
        given = learner.overrides.get("data") or {}
        data = {**given, "game": settings["data"]["game"]} if isinstance(given, dict) else given
        others = ["random"] * settings["model"]["n_types"]
        options = ["--config", str(learner.config), *threads, "--teammates", *others]
        yield f"{group.name}/{learner.name}", "learn", options, {**learner.overrides, "data": data}


def keep_settings(path: Path, settings: Mapping[str, Any]) -> None:
    """Write settings beside the cells, unless they are there: of several processes at once, the first one's count."""
    kept = read_settings(path)
    if kept is not None and not list(differences(kept, settings)):
        return
    text = "# Every setting of these cells; their seeds, folders and threads are options.\n"
    text += yaml.safe_dump(without(SET_PER_CELL, settings), sort_keys=False)
    if kept is not None:  # of another study, none of whose cells has begun
        write_whole(path, text)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(text)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def read_settings(path: Path) -> dict[str, Any] | None:
    """Read what is kept beside cells; None where nothing is."""
    try:
        found = yaml.safe_load(path.read_text())
    except (OSError, yaml.YAMLError):
        return None
    return found if isinstance(found, dict) else None


def differences(
    kept: Mapping[str, Any], settings: Mapping[str, Any], but: Collection[str] = SET_PER_CELL
) -> Iterator[str]:
    """Say which settings are not what they were. What one of both doesn't know, of another version, is no change."""
    before, after = dict(flat(without(but, kept))), dict(flat(without(but, settings)))
    for key in before.keys() & after.keys():
        if before[key] != after[key]:
            yield f"{key} was {before[key]} and is {after[key]}"


def without(names: Collection[str], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Leave some settings out, as those that are set for each cell."""
    return {key: value for key, value in settings.items() if key not in names}


def flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every setting with its dotted name."""
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def check_disk(folder: Path, cells: Sequence[Cell], resolved: Mapping[str, Resolved]) -> int:
    """Refuse a study that the disk has no room for; returns the bytes that it may still take."""
    needed = sum(resolved[cell.group].run_bytes for cell in cells if not cell.begun)
    there = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    free = shutil.disk_usage(there).free
    if needed > free:
        raise UserError(f"{folder}: the study may take {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free")
    return needed
