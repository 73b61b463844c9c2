"""The population file: weights and everything needed to use them, in one safetensors file that holds no code."""

import hashlib
import json
import math
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from brdiv.errors import MissingFileError, UserError
from brdiv.games import Playable
from brdiv.nets import Population
from brdiv.runs.described_game import build_game, first_line
from brdiv.runs.description import (
    FORMAT,
    MOST_SIGNS,
    POPULATION,
    DescriptionError,
    FileKind,
    parse,
    read_description,
    write_description,
)
from brdiv.runs.folder import RunFolder
from brdiv.runs.whole import write_whole
from brdiv.text import plain
from brdiv.version import __version__

LENGTH = 8  # bytes at the start of a safetensors file that say how long its header is
FLOAT, FLOAT_BYTES = "F32", 4  # what weights are stored as


class PopulationFileError(UserError):
    """A file that can't be read as a population, and why, in one short line."""


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
    description = describe(population, game, about, checksum(weights.items()))
    write_whole(path, in_order(save(weights, metadata=description)))
    return path


def in_order(data: bytes) -> bytes:
    """Put the entries of a file's metadata in order: safetensors writes them in another one each time."""
    size = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:size])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # weights begin at a multiple of 8
    return len(text).to_bytes(8, "little") + text + data[size:]


def describe(
    population: Population, game: Playable, about: Mapping[str, Any] | None = None, sha256: str = "0" * 64
) -> dict[str, str]:
    """Write the metadata of a file, or refuse what could not be read again."""
    description = {
        **(about or {}),
        "format": FORMAT,
        "version": __version__,
        "game": {"name": type(game).__name__, "module": type(game).__module__, "settings": game.settings()},
        "n_types": population.n_types,
        "observation_size": population.observation_size,
        "n_actions": population.n_actions,
        "hidden": population.hidden,
        "sha256": sha256,
    }
    try:
        return write_description(description, POPULATION)
    except DescriptionError as error:
        raise PopulationFileError(f"the population can't be described: {error}") from None


def load_population(path: str | os.PathLike[str], allow_imports: bool = False) -> SavedPopulation:
    """Read a population file, or that of a run folder: the actors, the game they play, and how they were made.

    A file for a custom game or an external environment names the module that has it. Importing a module runs its code,
    so that is done only with ``allow_imports``, or if the module was imported before.

    Raises `PopulationFileError` where the file is damaged or not a population's; where there is none, it is a
    `FileNotFoundError`, too.
    """
    path = find_population(Path(path))
    with refusing(path):
        about, weights = read_file(path)
        game = build_game(about, allow_imports)
    population = Population(about["n_types"], about["observation_size"], about["n_actions"], about["hidden"])
    population.load_state_dict(weights)
    return SavedPopulation(population.eval(), game, about)


def read_about(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what a population file says of itself, and see that it is whole, without building its game."""
    path = find_population(Path(path))
    with refusing(path):
        return read_file(path)[0]


@contextmanager
def refusing(path: Path, kind: str = "population") -> Iterator[None]:
    """Say in one line what is wrong with a file."""
    try:
        yield
    except (DescriptionError, SafetensorError, OSError) as error:
        reason = error if isinstance(error, DescriptionError) else first_line(error)
        told = f"{plain(path, 1000)} is not a {kind} file, or is damaged: {reason}"
        raise PopulationFileError(told) from None


def find_population(path: Path) -> Path:
    """Find a population file: the path itself, or that of a run folder. What is neither, a pipe say, is refused."""
    shown = plain(path, 1000)
    try:
        mode = path.stat().st_mode
        inside = RunFolder(path).population
        if stat.S_ISDIR(mode) and not inside.is_file():
            raise PopulationFileError(f"{shown} is not a population file, nor a run folder with a {inside.name}")
    except FileNotFoundError:
        raise MissingPopulationError(f"no population file at {shown}") from None
    except OSError as error:
        raise PopulationFileError(f"{shown} can't be read: {error.strerror or first_line(error)}") from None
    if stat.S_ISDIR(mode):
        return inside
    if not stat.S_ISREG(mode):
        raise PopulationFileError(f"{shown} is not a population file: it is no file at all, but a device or a pipe")
    return path


def read_file(path: Path, kind: FileKind = POPULATION) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read description and weights, the second only where their sizes are those of the first, and of the file."""
    size = path.stat().st_size
    with path.open("rb") as file:
        text = read_header(file, size)
        entries = parse(text)
        about = read_description(entries.pop("__metadata__", None), kind)
        stored = check_entries(entries, about, kind)
        if LENGTH + len(text) + stored != size:
            raise DescriptionError(f"it should have {LENGTH + len(text) + stored:,} bytes, and has {size:,}")
        weights = load(len(text).to_bytes(LENGTH, "little") + text + file.read(stored))
    if checksum(weights.items()) != about["sha256"]:
        raise DescriptionError("its weights don't match their checksum")
    if not all(tensor.isfinite().all() for tensor in weights.values()):
        raise DescriptionError("some of its weights are not finite")
    return about, weights


def read_header(file: BinaryIO, size: int) -> bytes:
    """Read the header of a safetensors file, which must not be longer than the file, nor than descriptions are."""
    length = int.from_bytes(file.read(LENGTH), "little")
    if not 0 < length <= min(MOST_SIGNS, size - LENGTH):
        raise DescriptionError("it has no header")
    return file.read(length)


def check_entries(entries: Mapping[str, Any], about: Mapping[str, Any], kind: FileKind = POPULATION) -> int:
    """Refuse stored tensors that are not those of what is described; returns how many bytes they take."""
    expected = kind.shapes(about)
    if entries.keys() != expected.keys():
        raise DescriptionError(f"it doesn't describe its {kind.name}: the layers that it stores are others")
    numbers = 0
    for name, shape in expected.items():
        entry = entries[name] if isinstance(entries[name], dict) else {}
        if entry.get("dtype") != FLOAT:
            raise DescriptionError(f"it stores {name} as {plain(entry.get('dtype'), 20)}, and not in float32")
        if entry.get("shape") != shape:
            raise DescriptionError(
                f"it doesn't describe its {kind.name}: {name} is {plain(entry.get('shape'), 60)} and should be {shape}"
            )
        numbers += math.prod(shape)
    return numbers * FLOAT_BYTES


def checksum(weights: Iterable[tuple[str, Tensor]]) -> str:
    """Hash names, shapes and bytes of tensors, in the order of their names."""
    digest = hashlib.sha256()
    for name, tensor in sorted(weights):
        digest.update(f"{name} {list(tensor.shape)} {tensor.dtype}".encode())
        digest.update(tensor.contiguous().numpy().tobytes())
    return digest.hexdigest()
