"""What is possible with each scripted teammate: bounds that come with the package, found by training."""

import json
from collections.abc import Mapping
from pathlib import Path

import brdiv.games
from brdiv.games import Playable

FOLDER = Path(brdiv.games.__file__).parent / "bounds"
HOPELESS = 0.05
"""Where even a best response earns less than this, nobody can play with a teammate."""


def bounds_of(game: Playable, folder: Path = FOLDER) -> dict[str, float]:
    """Return what is possible with each heuristic of a game, by name; nothing for games without shipped bounds."""
    path = folder / f"{type(game).__name__.lower()}.json"
    if not path.is_file():
        return {}
    told = json.loads(path.read_text(encoding="utf-8"))
    # Settings as a file would have them: a tuple is a list there.
    settings = json.loads(json.dumps(game.settings()))
    if told["game"] != {"name": type(game).__name__, "settings": settings}:
        return {}
    return {name: float(bound["mean_return"]) for name, bound in told["bounds"].items()}


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
