"""What a file of weights says of itself, checked before it is believed: types, ranges, and what must be stored."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NoReturn

from brdiv.errors import MOST_STEPS, UserError
from brdiv.text import plain

FORMAT = 2
KEYS = {"brdiv": "population", "brdiv_learner": "learner"}  # entries of metadata, and what files that have them hold
CHECKSUM = "_sha256"  # what the entry of the file's metadata ends in that has the checksum of its description
MOST_SIGNS = 1 << 20  # of the file's header, descriptions and all
MOST_TYPES, MOST_LAYERS, MOST_NEURONS = 1024, 64, 1 << 20


class DescriptionError(UserError):
    """What is wrong with a description, without the name of its file."""


def is_whole(value: Any, least: int = 0, most: int = MOST_STEPS) -> bool:
    """Whether a value is a whole number in a range; True and False are none."""
    return type(value) is int and least <= value <= most


def is_class(value: Any) -> bool:
    """Whether a value tells of a class: its name and settings, and perhaps its module and label."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("name"), str)
        and isinstance(value.get("settings", {}), dict)
        and all(isinstance(value.get(name), str | None) for name in ("module", "label"))
    )


def are_layers(value: Any) -> bool:
    """Whether a value tells of hidden layers."""
    return (
        isinstance(value, list)
        and 1 <= len(value) <= MOST_LAYERS
        and all(is_whole(neurons, 1, MOST_NEURONS) for neurons in value)
    )


NEEDED: dict[str, Callable[[Any], bool]] = {
    "game": is_class,
    "n_types": lambda value: is_whole(value, 1, MOST_TYPES),
    "observation_size": lambda value: is_whole(value, 1, MOST_NEURONS),
    "n_actions": lambda value: is_whole(value, 1, MOST_NEURONS),
    "hidden": are_layers,
    "version": lambda value: isinstance(value, str),
    "sha256": lambda value: isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None,
}
OPTIONAL: dict[str, Callable[[Any], bool]] = {
    "method": lambda value: value == {} or is_class(value),
    "seed": is_whole,
    "steps": is_whole,
    "finished": lambda value: isinstance(value, bool),
}


class FileKind(NamedTuple):
    """A kind of file that holds weights and what they are of."""

    name: str
    key: str  # entry of the file's metadata whose value is the description, as JSON
    needed: Mapping[str, Callable[[Any], bool]]
    optional: Mapping[str, Callable[[Any], bool]]
    shapes: Callable[[Mapping[str, Any]], dict[str, list[int]]]
    """Name every tensor that what is described consists of, with its shape."""
    formats: tuple[int, ...] = (FORMAT,)
    """Those that can be read."""


def check_description(about: Mapping[str, Any], kind: FileKind) -> None:
    """Refuse a description that lacks something, or in which something is of the wrong type or out of range."""
    for name, is_right in {**kind.needed, **kind.optional}.items():
        if name not in about and name in kind.needed:
            raise DescriptionError(f"it doesn't say its {name}")
        if name in about and not is_right(about[name]):
            raise DescriptionError(f"its {name} can't be {plain(short(about[name]), 60)}")


def short(value: Any) -> str:
    """Write a value of unknown size for a message."""
    return f"a {type(value).__name__}" if isinstance(value, dict | list) else repr(value)[:100]


def write_description(about: Mapping[str, Any], kind: FileKind) -> dict[str, str]:
    """Return the metadata of a file: its description, and the checksum of it."""
    check_description(about, kind)
    try:
        text = json.dumps(about, allow_nan=False)
    except ValueError as error:  # numbers that are not finite
        raise DescriptionError(plain(error, 100)) from None
    if len(text) > MOST_SIGNS // 2:
        raise DescriptionError(f"it takes {len(text):,} signs: at most {MOST_SIGNS // 2:,} are kept")
    return {kind.key: text, kind.key + CHECKSUM: hashlib.sha256(text.encode()).hexdigest()}


def read_description(metadata: Any, kind: FileKind) -> dict[str, Any]:
    """Read the description of a file from its metadata, refusing other programs' files and formats of the future."""
    if not isinstance(metadata, dict) or not isinstance(metadata.get(kind.key), str):
        others = [other for other in KEYS if isinstance(metadata, dict) and other in metadata]
        if others:
            raise DescriptionError(f"it holds a {KEYS[others[0]]}, and not a {kind.name}")
        raise DescriptionError("it is a safetensors file, but not one that brdiv wrote")
    text, told = metadata[kind.key], metadata.get(kind.key + CHECKSUM)
    about = parse(text)
    version = about.get("format")
    if type(version) is not int or version not in kind.formats:
        readable = " and ".join(map(str, kind.formats))
        raise DescriptionError(f"it has format {plain(short(version), 30)}; this version of brdiv reads {readable}")
    # A file of the first format that has one is none: what it says of its format was changed.
    if (version > 1 or told is not None) and told != hashlib.sha256(text.encode("utf-8", "replace")).hexdigest():
        raise DescriptionError("it is damaged: its description doesn't match its checksum")
    check_description(about, kind)
    return about


def parse(text: str | bytes) -> dict[str, Any]:
    """Read JSON that must be an object; numbers that are none, NaN say, are refused."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(constant)

    try:
        value = json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        raise DescriptionError("it is damaged: its description can't be read") from None
    if not isinstance(value, dict):
        raise DescriptionError("it is damaged: its description can't be read")
    return value


def expected_shapes(about: Mapping[str, Any]) -> dict[str, list[int]]:
    """Name every tensor that a population as described consists of, with its shape."""
    stack = 2 * about["n_types"]
    sizes = [about["observation_size"], *about["hidden"], about["n_actions"]]
    shapes = {}
    for number in range(len(sizes) - 1):
        shapes[f"layers.{number}.weight"] = [stack, sizes[number], sizes[number + 1]]
        shapes[f"layers.{number}.bias"] = [stack, 1, sizes[number + 1]]
    return shapes


# Populations of format 1 have no checksum of their description.
POPULATION = FileKind("population", "brdiv", NEEDED, OPTIONAL, expected_shapes, (1, FORMAT))
