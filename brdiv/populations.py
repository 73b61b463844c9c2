"""The population file: weights and everything needed to use them, in one safetensors file that holds no code."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

import brdiv.envs
from brdiv.envs import ForeignGame, Task
from brdiv.nets import Population
from brdiv.version import __version__

FORMAT = 1
KEY = "brdiv"  # the one entry of the file's metadata; its value is JSON


class PopulationFileError(ValueError):
    """A file that can't be read as a population, and why."""


class SavedPopulation(NamedTuple):
    """What a population file holds."""

    population: Population
    game: Task
    about: dict[str, Any]  # n_types, hidden, method, seed, steps, version and so on


def save_population(
    path: str | os.PathLike[str], population: Population, game: Task, about: Mapping[str, Any] | None = None
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
        "game": {"name": type(game).__name__, "settings": game.settings()},
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
    """Read a population file: the actors, the game they play, and how they were made.

    A file for somebody else's environment names the module that has it. Importing a module runs its code, so that is
    done only with ``allow_imports``.

    Raises `FileNotFoundError` where there is none, `PopulationFileError` where it is damaged or not a population's.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"no population file at {path}")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise PopulationFileError(f"{path} is not a population file, or is damaged: {error}") from None
    about = read_description(path, metadata)
    if checksum(weights.items()) != about.get("sha256"):
        raise PopulationFileError(f"{path} is damaged: its weights don't match their checksum")
    try:
        game_class = find_game(about["game"]["name"])
        if issubclass(game_class, ForeignGame) and not allow_imports:
            raise PopulationFileError(
                f"{path} plays {about['game']['settings']} by {game_class.__name__}, which means importing that; "
                "if you trust the file, allow it (--allow-imports, or allow_imports=True)"
            )
        game = game_class(**about["game"]["settings"])
        population = Population(about["n_types"], about["observation_size"], about["n_actions"], about["hidden"])
        population.load_state_dict(weights)
    except PopulationFileError:
        raise
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        raise PopulationFileError(f"{path} doesn't describe its population: {error}") from None
    return SavedPopulation(population.eval(), game, about)


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


def find_game(name: str) -> type[Task]:
    """Find a game by class name: one of brdiv's, or one that the caller has imported. A file never imports anything."""
    own = getattr(brdiv.envs, name, None)
    if isinstance(own, type) and issubclass(own, Task):
        return own
    for game in subclasses(Task):
        if game.__name__ == name:
            return game
    raise ValueError(f"it plays {name}, which is not known here; import the module that defines it first")


def subclasses(parent: type[Task]) -> Iterable[type[Task]]:
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
