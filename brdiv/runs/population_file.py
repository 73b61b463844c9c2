"""The population file: weights and everything needed to use them, in one safetensors file that holds no code."""

import hashlib
import importlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from brdiv.errors import MissingFileError, UserError
from brdiv.games import Playable
from brdiv.nets import Population
from brdiv.runs.folder import RunFolder
from brdiv.version import __version__

FORMAT = 1
KEY = "brdiv"  # the one entry of the file's metadata; its value is JSON
HOMES = ("brdiv.games", "brdiv.rollouts")  # where brdiv's own games are found by name


class PopulationFileError(UserError):
    """A file that can't be read as a population, and why."""


class MissingPopulationError(PopulationFileError, MissingFileError):
    """There is no population file."""


class SavedPopulation(NamedTuple):
    """What a population file holds."""

    population: Population
    game: Playable
    about: dict[str, Any]  # n_types, hidden, method, seed, steps, version and so on


def save_population(
    path: str | os.PathLike[str], population: Population, game: Playable, about: Mapping[str, Any] | None = None
) -> Path:
    """Write the population to ``path``, with ``about`` (method, seed, steps, ...: anything JSON can hold) beside it.

    The file appears whole or not at all: it is written under another name and renamed.
    """
    path = Path(path)
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in population.state_dict().items()}
    description = {
        **(about or {}),
        "format": FORMAT,
        "version": __version__,
        "game": {"name": type(game).__name__, "module": type(game).__module__, "settings": game.settings()},
        "n_types": population.n_types,
        "observation_size": population.observation_size,
        "n_actions": population.n_actions,
        "hidden": population.hidden,
        "sha256": checksum(weights.items()),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(save(weights, metadata={KEY: json.dumps(description)}))
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path


def load_population(path: str | os.PathLike[str], allow_imports: bool = False) -> SavedPopulation:
    """Read a population file, or that of a run folder: the actors, the game they play, and how they were made.

    A file for a custom game or an external environment names the module that has it. Importing a module runs its code,
    so that is done only with ``allow_imports``, or if the module was imported before.

    Raises `PopulationFileError` where the file is damaged or not a population's; where there is none, it is a
    `FileNotFoundError`, too.
    """
    path = find_population(Path(path))
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise PopulationFileError(f"{path} is not a population file, or is damaged: {error}") from None
    about = read_description(path, metadata)
    if checksum(weights.items()) != about.get("sha256"):
        raise PopulationFileError(f"{path} is damaged: its weights don't match their checksum")
    game = build_game(path, about, allow_imports)
    try:
        population = Population(about["n_types"], about["observation_size"], about["n_actions"], about["hidden"])
        population.load_state_dict(weights)
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        raise PopulationFileError(f"{path} doesn't describe its population: {error}") from None
    return SavedPopulation(population.eval(), game, about)


def read_about(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what a population file, or that of a run folder, says of itself; neither weights nor games are touched."""
    path = find_population(Path(path))
    try:
        with safe_open(path, framework="pt") as file:
            return read_description(path, file.metadata() or {})
    except (SafetensorError, OSError) as error:
        raise PopulationFileError(f"{path} is not a population file, or is damaged: {error}") from None


def find_population(path: Path) -> Path:
    """Find a population file: the path itself, or that of a run folder."""
    if not path.exists():
        raise MissingPopulationError(f"no population file at {path}")
    if path.is_dir():
        inside = RunFolder(path).population
        if not inside.exists():
            raise PopulationFileError(f"{path} is not a population file, nor a run folder with a {inside.name}")
        return inside
    return path


def read_description(path: Path, metadata: Mapping[str, str]) -> dict[str, Any]:
    """Parse the file's own description of itself, refusing other programs' files and formats of the future."""
    if KEY not in metadata:
        raise PopulationFileError(f"{path} is a safetensors file, but not one that brdiv wrote")
    try:
        about = json.loads(metadata[KEY])
    except json.JSONDecodeError:
        raise PopulationFileError(f"{path} is damaged: its description can't be read") from None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        found = about.get("format") if isinstance(about, dict) else None
        raise PopulationFileError(f"{path} has format {found}; this version of brdiv reads format {FORMAT}")
    return about


def build_game(path: Path, about: Mapping[str, Any], allow_imports: bool) -> Playable:
    """Build the game that a file describes, importing code from outside brdiv only if that is allowed."""
    try:
        name, module, settings = about["game"]["name"], about["game"].get("module"), about["game"]["settings"]
        game_class = find_game(name, module, allow_imports)
        if game_class is None:
            raise PopulationFileError(
                f"{path} plays {name} of the module {module}; if you trust the file, let that be imported "
                "(--allow-imports, or allow_imports=True)"
            )
        if imports_by_settings(game_class) and not allow_imports:
            raise PopulationFileError(
                f"{path} plays {settings} by {name}, which means importing that; "
                "if you trust the file, allow it (--allow-imports, or allow_imports=True)"
            )
        return game_class(**settings)
    except PopulationFileError:
        raise
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        raise PopulationFileError(f"{path} doesn't describe its population: {error}") from None


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
        raise ValueError(f"it plays {name}, which is not known here; import the module that defines it first")
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
        raise ValueError(f"it plays {name} of the module {module}, which can't be imported: {error}") from None
    if not (isinstance(found, type) and issubclass(found, Playable)):
        raise ValueError(f"it plays {name}, and the module {module} has no such game")
    return found


def subclasses(parent: type[Playable]) -> Iterator[type[Playable]]:
    """All classes below ``parent``."""
    for child in parent.__subclasses__():
        yield child
        yield from subclasses(child)


def checksum(weights: Iterable[tuple[str, Tensor]]) -> str:
    """Hash names, shapes and bytes of tensors, in the order of their names."""
    digest = hashlib.sha256()
    for name, tensor in sorted(weights):
        digest.update(f"{name} {list(tensor.shape)} {tensor.dtype}".encode())
        digest.update(tensor.contiguous().numpy().tobytes())
    return digest.hexdigest()
