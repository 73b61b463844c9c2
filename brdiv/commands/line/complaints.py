"""What a parser complains of, in the words that users write: keys, whole numbers, and what was probably meant."""

import re
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from typing import Any

from brdiv import text

LONGEST_MESSAGE = 600  # signs of what a parser says that is passed on as it is
LONGEST_VALUE = 200  # signs of a value that are repeated to whoever gave it
TYPES = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "text"}
LARGEST_EXPONENT = 18


def plain(message: str, options: Sequence[str]) -> str:
    """Say a parser's message in one plain line, given its ``options``."""
    # The parser's own name for `brdiv fit` stands before keys, and is none of the user's words.
    message = re.sub(r"(?<=[\"'])fit\.|(?<=--)fit\.|(?<=required: )fit\.|(?<=, )fit\.", "", " ".join(message.split()))
    for pattern, say in SAYINGS:
        found = re.search(pattern, message)
        if found:
            return say(found, options)
    return text.plain(message, LONGEST_MESSAGE)


def suggestion(wrong: str, known: Sequence[str]) -> str:
    """Ask whether something known was meant."""
    wrong = wrong.split("=")[0]
    # A name is often right but for the group it is in, or for dashes and underscores.
    plain_names = {simple(name): name for name in known}
    near = [name for name in known if name.startswith(wrong)] or get_close_matches(wrong, known, 1, 0.7)
    near = near or get_close_matches(simple(wrong), plain_names, 1, 0.7)
    return f"; did you mean {plain_names.get(near[0], near[0])}?" if near else ""


def simple(name: str) -> str:
    """Leave out what is easily confused.

    >>> simple("--model.learning_rate")
    'modellearningrate'
    """
    return re.sub(r"[-_.]", "", name).lower()


def unknown_option(found: re.Match[str], options: Sequence[str]) -> str:
    """Say that there is no such option."""
    return f"{found[0]}{suggestion(found[1], options)}"


def unknown_key(found: re.Match[str], options: Sequence[str]) -> str:
    """Say that there is no such key in a config."""
    key = ".".join(filter(None, found.groups()))
    return f"{key}: no such setting{suggestion(key, [option.lstrip('-') for option in options])}"


def of_class(found: re.Match[str], options: Sequence[str]) -> str:
    """Pass on what the parser of a class has said of a setting, with the key that the class stands under."""
    key, dashes, setting, what = found.groups()
    return f"{dashes}{key}.{setting}{what}"


def wrong_type(found: re.Match[str], options: Sequence[str]) -> str:
    """Say what a value must be."""
    return f"{found[1]} is {text.plain(found[3], LONGEST_VALUE)}: it must be {TYPES[found[2]]}"


def no_type(found: re.Match[str], options: Sequence[str]) -> str:
    """Say what a value may be that can be of several types."""
    types = re.sub(r"<class '([\w.]+)'>", r"\1", found[2]).replace("NoneType", "null")
    types = re.sub(r"\b(typing|collections\.abc|datetime)\.", "", types)
    return f"{found[1]} is {text.plain(found[3], LONGEST_VALUE)}: it must be one of {types}"


def missing(found: re.Match[str], options: Sequence[str]) -> str:
    """Name what is missing as it is written on the command line."""
    names = found[1].split(", ")
    written = [f"--{name}" if f"--{name}" in options else name for name in names]
    return f"{', '.join(written)} {'is' if len(names) == 1 else 'are'} missing"


Saying = Callable[[re.Match[str], Sequence[str]], str]
SAYINGS: list[tuple[str, Saying]] = [
    (r"^unrecognized arguments: (--\S+).*", unknown_option),
    (r"Parser key \"([\w.]+)\": (?:.*: )?(--|)(\w+)((?:: no such setting| is missing).*)", of_class),
    (r"Parser key \"([\w.]+)\": ()([a-z]\w*)( is .*: it must be .*)", of_class),
    (r"Group '([\w.]+)' does not accept option '([\w.]+)'", unknown_key),
    (r"Option '([\w.]+)' is not accepted", unknown_key),
    (r"Subcommand 'fit' does not accept option '([\w.]+)'", unknown_key),
    (r"Parser key \"([\w.]+)\": Expected a <class '(int|float|bool|str)'>\. Got value: (.*)", wrong_type),
    (r"Parser key \"([\w.]+)\": Does not validate against .* Subtypes: \[(.*)\] Errors: .*Given value: (.*)", no_type),
    (r"^the following arguments are required: (.*)", missing),
]
"""What the parser says, and how it is said instead."""


def takes_whole_numbers(action: Any) -> bool:
    """Whether an option of a parser is a whole number."""
    return getattr(action, "_typehint", None) in (int, int | None) or getattr(action, "type", None) is int


def whole(value: Any) -> Any:
    """Read `4e6` and `4_000_000.0` as the whole numbers that they are; anything else stays.

    >>> whole("4e6"), whole(4e6), whole("4.5"), whole("x"), whole(True)
    (4000000, 4000000, '4.5', 'x', True)
    """
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 10.0 ** (LARGEST_EXPONENT + 1) else value
    if not isinstance(value, str) or not re.search(r"\d[eE.]", value):
        return value
    try:
        number = Decimal(value.replace("_", ""))
    except InvalidOperation:
        return value
    return int(number) if number.adjusted() <= LARGEST_EXPONENT and number == number.to_integral_value() else value
