"""What is possible with each scripted teammate: bounds that come with the package, found by training."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import brdiv.games
from brdiv.errors import LARGEST_NUMBER, UserError
from brdiv.games import Playable, shipped_games
from brdiv.runs.description import DescriptionError, is_class, parse
from brdiv.text import plain

FOLDER = Path(brdiv.games.__file__).parent / "bounds"
MOST_BYTES = 1 << 20
HOPELESS = 0.05
"""Where even a best response earns less than this, nobody can play with a teammate."""


def bounds_of(game: Playable, folder: Path = FOLDER) -> dict[str, float]:
    """Return what is possible with each heuristic of a game, by name; nothing for games without shipped bounds."""
    path = folder / f"{type(game).__name__.lower()}.json"
    if type(game) not in shipped_games().values() or not path.exists():
        return {}
    try:
        told = read_bounds(path)
    except (DescriptionError, OSError) as error:
        reason = error if isinstance(error, DescriptionError) else error.strerror
        raise UserError(f"{plain(path, 1000)} has no bounds of a game: {reason}; `brdiv bounds` makes them") from None
    # Settings as a file would have them: a tuple is a list there.
    settings = json.loads(json.dumps(game.settings()))
    if told["game"] != {"name": type(game).__name__, "settings": settings}:
        return {}
    return {name: float(bound["mean_return"]) for name, bound in told["bounds"].items()}


def read_bounds(path: Path) -> dict[str, Any]:
    """Read a file of bounds, and check what is looked at of it."""
    if not path.is_file():
        raise DescriptionError("it is no file at all, but a folder, a device or a pipe")
    if path.stat().st_size > MOST_BYTES:
        raise DescriptionError(f"it is larger than {MOST_BYTES:,} bytes")
    told = parse(path.read_bytes())
    if not is_class(told.get("game")):
        raise DescriptionError("it doesn't say its game")
    bounds = told.get("bounds")
    found = bounds.values() if isinstance(bounds, dict) else [None]
    if not all(isinstance(bound, dict) and is_return(bound.get("mean_return")) for bound in found):
        raise DescriptionError("it doesn't say what each teammate's best response earns")
    return told


def is_return(value: Any) -> bool:
    """Whether a value is a number that can have been earned."""
    return type(value) in {int, float} and abs(value) < LARGEST_NUMBER  # so no NaN


def is_hopeless(bound: float) -> bool:
    """Whether nobody can play with a teammate."""
    return bound < HOPELESS


def shares(returns: Mapping[str, float], bounds: Mapping[str, float]) -> dict[str, float]:
    """Returns as a share of what is possible, of teammates with whom anything is.

    >>> shares({"H1": 0.5, "H2": 0.0}, {"H1": 1.0, "H2": 0.0})
    {'H1': 0.5}
    """
    known = {name: value for name, value in returns.items() if name in bounds and not is_hopeless(bounds[name])}
    return {name: value / bounds[name] for name, value in known.items()}


def regrets(returns: Mapping[str, float], bounds: Mapping[str, float]) -> dict[str, float]:
    """How far returns are below what is possible; 0 where they are above a bound, which is an estimate.

    >>> regrets({"H1": 0.25, "H2": 0.1}, {"H1": 1.0, "H2": 0.0})
    {'H1': 0.75, 'H2': 0.0}
    """
    return {name: max(bounds[name] - value, 0.0) for name, value in returns.items() if name in bounds}
