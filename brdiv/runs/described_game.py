"""The game that a population file describes: brdiv's own, one that was imported before, or one to import if allowed."""

import importlib
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from brdiv.games import Playable
from brdiv.runs.description import DescriptionError, short
from brdiv.text import plain

HOMES = ("brdiv.games", "brdiv.rollouts")  # where brdiv's own games are found by name
MISTAKES = (KeyError, TypeError, ValueError, RuntimeError, AttributeError, IndexError, OverflowError, MemoryError)
"""What building a game may end in where its settings are wrong."""


def build_game(about: Mapping[str, Any], allow_imports: bool) -> Playable:
    """Build the game that a file describes, and see that it has the sizes that the file says."""
    game = make_game(about["game"], allow_imports)
    for size in ("observation_size", "n_actions"):
        if getattr(game, size) != about[size]:
            raise DescriptionError(
                f"it doesn't describe its game: {size} is {short(about[size])} there, and {getattr(game, size)} here"
            )
    return game


def make_game(entry: Mapping[str, Any], allow_imports: bool) -> Playable:
    """Build a game by its name and settings, importing code from outside brdiv only if that is allowed."""
    name, module, settings = entry["name"], entry.get("module"), entry.get("settings", {})
    try:
        game_class = find_game(name, module, allow_imports)
        if game_class is None:
            raise DescriptionError(
                f"it plays {plain(name, 60)} of the module {plain(module, 60)}; if you trust the file, let that be "
                "imported (--allow-imports, or allow_imports=True)"
            )
        if imports_by_settings(game_class) and not allow_imports:
            raise DescriptionError(
                f"it plays {plain(settings, 100)} by {plain(name, 60)}, which means importing that; "
                "if you trust the file, allow it (--allow-imports, or allow_imports=True)"
            )
        game = game_class(**settings)
    except DescriptionError:
        raise
    except MISTAKES as error:
        raise DescriptionError(f"it doesn't describe its game: {first_line(error)}") from None
    return game


def first_line(error: BaseException) -> str:
    """Say what went wrong without what libraries add below it."""
    return plain((str(error) or type(error).__name__).splitlines()[0], 150)


def imports_by_settings(game_class: type[Playable]) -> bool:
    """Whether building a game of this class imports what its settings name, as external environments do."""
    return game_class.imports is not Playable.imports


def find_game(name: str, module: str | None, allow_imports: bool) -> type[Playable] | None:
    """Find a game's class: one of brdiv's, one that was imported before, or one to import; None if that isn't allowed.

    A file never imports anything by itself.
    """
    if module is None or module.partition(".")[0] == "brdiv":
        for home in HOMES:
            own = getattr(importlib.import_module(home), name, None)
            if isinstance(own, type) and issubclass(own, Playable):
                return own
    for game in subclasses(Playable):
        if game.__name__ == name and module in {None, game.__module__}:
            return game
    if module is None or module.partition(".")[0] == "brdiv":
        raise ValueError(
            f"it plays {plain(name, 60)}, which is not known here; import the module that defines it first"
        )
    if not allow_imports:
        return None
    return import_game(name, module)


def import_game(name: str, module: str) -> type[Playable]:
    """Import a custom game, also from the folder one stands in, as `brdiv fit` does."""
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found = getattr(importlib.import_module(module), name, None)
    except ImportError as error:
        told = f"{plain(name, 60)} of the module {plain(module, 60)}"
        raise ValueError(f"it plays {told}, which can't be imported: {error}") from None
    if not (isinstance(found, type) and issubclass(found, Playable)):
        raise ValueError(f"it plays {plain(name, 60)}, and the module {plain(module, 60)} has no such game")
    return found


def subclasses(parent: type[Playable]) -> Iterator[type[Playable]]:
    """All classes below ``parent``."""
    for child in parent.__subclasses__():
        yield child
        yield from subclasses(child)
