"""How runs were set up, as what differs from the shipped configs."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from brdiv.report.results import GameResults
from brdiv.report.study import read_yaml

OWN = {"seed_everything", "run", "threads", "ckpt_path", "config", "weights_only", "data.seed"}
"""Settings that each run has of its own."""

Resolve = Callable[[str, str], Mapping[str, Any] | None]
"""Says every setting that the shipped configs of a game and a method come to; None where there are none."""


class Difference(NamedTuple):
    """A setting that is not the shipped one."""

    name: str
    here: str
    shipped: str


class MethodSettings(NamedTuple):
    """How the runs of a method on a game were set up."""

    label: str
    compared: bool  # whether there is a shipped config to compare with
    differences: list[Difference]
    steps: int
    seeds: list[int]
    hours: float


def flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Write nested settings by their dotted names.

    >>> dict(flat({"model": {"gamma": 0.9, "hidden": [64]}}))
    {'model.gamma': 0.9, 'model.hidden': [64]}
    """
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def differences(here: Mapping[str, Any], shipped: Mapping[str, Any]) -> list[Difference]:
    """What two configs say differently; settings of which one knows nothing are shown as a dash there."""
    ours, theirs = dict(flat(here)), dict(flat(shipped))
    names = [name for name in dict.fromkeys([*ours, *theirs]) if name not in OWN]
    return [
        Difference(name, written(ours, name), written(theirs, name))
        for name in names
        if ours.get(name) != theirs.get(name)
    ]


def written(settings: Mapping[str, Any], name: str) -> str:
    """Write a setting as text."""
    return str(settings[name]) if name in settings else "\N{EN DASH}"


def settings_of(results: GameResults, resolve: Resolve) -> list[MethodSettings]:
    """Say how each method of a game was set up, by the config that its first run left."""
    found = []
    for stem, label in results.methods.items():
        cells = [cell for cell in results.cells if cell.method == stem]
        configs = [read_yaml(Path(cell.run.path, cell.run.config_name())) for cell in cells]
        config = next((config for config in configs if config), {})
        shipped = resolve(results.game, stem) if config else None
        found.append(
            MethodSettings(
                label,
                shipped is not None,
                differences(config, shipped) if shipped is not None else [],
                max((cell.planned_steps or cell.steps for cell in cells), default=0),
                [cell.seed for cell in cells],
                sum(cell.seconds for cell in cells) / 3600,
            )
        )
    return found
