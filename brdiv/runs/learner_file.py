"""The learner file: a trained learner's network and everything needed to let it play, and no code."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from safetensors.torch import save

from brdiv.errors import MissingFileError, UserError
from brdiv.games import Playable
from brdiv.recurrent import GATES, RecurrentActorCritic
from brdiv.runs.described_game import build_game
from brdiv.runs.description import (
    FORMAT,
    MOST_NEURONS,
    NEEDED,
    OPTIONAL,
    DescriptionError,
    FileKind,
    is_whole,
    write_description,
)
from brdiv.runs.folder import RunFolder
from brdiv.runs.population_file import checksum, in_order, read_file, refusing
from brdiv.runs.whole import write_whole
from brdiv.text import plain
from brdiv.version import __version__

MOST_NAMES = 4096


class SavedLearner(NamedTuple):
    """What a learner file holds."""

    net: RecurrentActorCritic
    game: Playable
    about: dict[str, Any]  # hidden, memory, method, teammates, seed, steps, version and so on


def are_names(value: Any) -> bool:
    """Whether a value is a list of names."""
    return isinstance(value, list) and len(value) <= MOST_NAMES and all(isinstance(name, str) for name in value)


def learner_shapes(about: Mapping[str, Any]) -> dict[str, list[int]]:
    """Name every tensor that a learner as described consists of, with its shape."""
    hidden, memory, actions = about["hidden"], about["memory"], about["n_actions"]
    both = hidden[-1] + memory
    layers = {f"encoder.{2 * place}": size for place, size in enumerate(hidden)}
    sizes = [about["observation_size"] + 2 * actions, *hidden]
    shapes: dict[str, list[int]] = {}
    for place, name in enumerate(layers):
        shapes |= {f"{name}.weight": [sizes[place + 1], sizes[place]], f"{name}.bias": [sizes[place + 1]]}
    others = {
        "input_gates": (hidden[-1], GATES * memory),
        "memory_gates": (memory, GATES * memory),
        "policy.0": (both, memory),
        "policy.2": (memory, actions),
        "value.0": (both, memory),
        "value.2": (memory, 1),
    }
    for name, (n_in, n_out) in others.items():
        shapes |= {f"{name}.weight": [n_out, n_in], f"{name}.bias": [n_out]}
    return shapes


LEARNER = FileKind(
    "learner",
    "brdiv_learner",
    {
        **{name: check for name, check in NEEDED.items() if name != "n_types"},
        "memory": lambda value: is_whole(value, 1, MOST_NEURONS),
        "teammates": are_names,
        "populations": are_names,
    },
    {**OPTIONAL, "prepared_with": are_names, "validation": are_names},
    learner_shapes,
)


def save_learner(
    path: str | os.PathLike[str], net: RecurrentActorCritic, game: Playable, about: Mapping[str, Any]
) -> Path:
    """Write the learner to ``path``, with ``about`` (method, teammates, seed, steps, ...) beside it, whole or not."""
    path = Path(path)
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in net.state_dict().items()}
    write_whole(path, in_order(save(weights, metadata=describe(net, game, about, checksum(weights.items())))))
    return path


def describe(
    net: RecurrentActorCritic, game: Playable, about: Mapping[str, Any], sha256: str = "0" * 64
) -> dict[str, str]:
    """Write the metadata of a file, or refuse what could not be read again."""
    description = {
        "teammates": [],
        "populations": [],
        **about,
        "format": FORMAT,
        "version": __version__,
        "game": {"name": type(game).__name__, "module": type(game).__module__, "settings": game.settings()},
        "observation_size": net.observation_size,
        "n_actions": net.n_actions,
        "hidden": net.hidden,
        "memory": net.memory,
        "sha256": sha256,
    }
    try:
        return write_description(description, LEARNER)
    except DescriptionError as error:
        raise UserError(f"the learner can't be described: {error}") from None


def is_learner(path: str | os.PathLike[str]) -> bool:
    """Whether a path is of a learner: a run folder with one, or a file that says so in its header."""
    path = Path(path)
    if path.is_dir():
        return RunFolder(path).learner.is_file() and not RunFolder(path).population.is_file()
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return LEARNER.key.encode() in file.read(1 << 16)


def find_learner(path: Path) -> Path:
    """Find a learner file: the path itself, or that of a run folder. What is neither, a pipe say, is refused."""
    found = RunFolder(path).learner if path.is_dir() else path
    if not found.exists():
        raise MissingFileError(f"no learner file at {plain(found, 1000)}")
    if not found.is_file():
        raise UserError(f"{plain(found, 1000)} is not a learner file: it is no file at all, but a device or a pipe")
    return found


def about_learner(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what a learner file says of itself, and see that it is whole, without building its game."""
    found = find_learner(Path(path))
    with refusing(found, "learner"):
        return read_file(found, LEARNER)[0]


def load_learner(path: str | os.PathLike[str], allow_imports: bool = False) -> SavedLearner:
    """Read a learner file, or that of a run folder: the network, the game it plays, and how it was made.

    What is wrong with a file is refused as a population file's mistakes are, in one line.
    """
    found = find_learner(Path(path))
    with refusing(found, "learner"):
        about, weights = read_file(found, LEARNER)
        game = build_game(about, allow_imports)
    net = RecurrentActorCritic(about["observation_size"], about["n_actions"], about["hidden"], about["memory"])
    net.load_state_dict(weights)
    return SavedLearner(net.eval(), game, about)
