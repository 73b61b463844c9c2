"""A typed and documented function becomes a command line."""

import inspect
import re
import types
from argparse import _SubParsersAction
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Union, get_args, get_origin

import docstring_parser
from jsonargparse import ArgumentParser

from brdiv.commands.line.complaints import plain, suggestion, takes_whole_numbers, whole
from brdiv.errors import UserError

PASSED_ON = "fit_options"
"""Parameter that takes all options a function doesn't have itself: those of `brdiv fit`."""

EXAMPLE = r"Example: `([^`]*)`"
"""How a docstring gives an example of a command."""


class RaisesErrors:
    """Mixed into a parser: a mistake is a `UserError`, no option may be abbreviated, and 4e6 is a whole number."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "allow_abbrev": False})

    def error(self, message: str, ex: Exception | None = None) -> NoReturn:
        """Say it in one line, in the user's words."""
        raise UserError(plain(message, options_of(self)))

    def _get_values(self, action: Any, arg_strings: list[str]) -> Any:
        """Take what the command line gives to an option."""
        if takes_whole_numbers(action):
            arg_strings = [str(whole(text)) for text in arg_strings]
        return super()._get_values(action, arg_strings)  # type: ignore[misc]

    def _check_value_key(self, action: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Take what a config file gives to a key."""
        if takes_whole_numbers(action):
            value = whole(value)
        return super()._check_value_key(action, value, *args, **kwargs)  # type: ignore[misc]


class CommandParser(RaisesErrors, ArgumentParser):
    """The options of one command."""


def call(name: str, function: Callable[..., None], arguments: Sequence[str]) -> None:
    """Call a function with what a command line says."""
    parameters = inspect.signature(function).parameters
    if list(parameters) == [PASSED_ON]:
        function(list(arguments))
        return
    parser = make_parser(name, function)
    own, others = split(parser, arguments)
    if others and PASSED_ON not in parameters:
        raise UserError(f"unrecognized arguments: {' '.join(others)}{suggestion(others[0], options_of(parser))}")
    values = parser.parse_args(own).as_dict()
    first = [values.pop(name) for name, parameter in parameters.items() if parameter.kind is parameter.POSITIONAL_ONLY]
    function(*first, **values, **({PASSED_ON: others} if PASSED_ON in parameters else {}))


def make_parser(name: str, function: Callable[..., None]) -> CommandParser:
    """Build the parser of a function: parameters that can be given by position are positional if they have no default.

    Those that can be given by position alone are positional anyway, and may be left out if they have a default.
    A list takes one value or more; a bool that is False by default is a flag.
    """
    described = docstring_parser.parse(function.__doc__ or "")
    helps = {parameter.arg_name: parameter.description for parameter in described.params}
    text = " ".join(filter(None, [described.short_description, described.long_description]))
    example = re.search(EXAMPLE, text)
    epilog = f"example: {' '.join(example.group(1).split())}" if example else None
    parser = CommandParser(prog=f"brdiv {name}", description=re.sub(EXAMPLE, "", text), epilog=epilog)
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        if parameter.name != PASSED_ON:
            add_argument(parser, parameter, helps[parameter.name])
    return parser


def add_argument(parser: CommandParser, parameter: inspect.Parameter, text: str | None) -> None:
    """Add one parameter to a parser."""
    required = parameter.default is inspect.Parameter.empty
    optional = not required and parameter.kind is inspect.Parameter.POSITIONAL_ONLY
    positional = optional or (required and parameter.kind is not inspect.Parameter.KEYWORD_ONLY)
    options: dict[str, Any] = {"help": text}
    if not required:
        options["default"] = parameter.default
    elif not positional:
        options["required"] = True
    kind, repeated = element_type(parameter.annotation)
    if kind is bool and parameter.default is False:
        options["action"] = "store_true"
    else:
        options["type"] = kind
    if repeated or optional:
        options["nargs"] = {(True, False): "+", (True, True): "*", (False, True): "?"}[repeated, optional]
    parser.add_argument(parameter.name if positional else f"--{parameter.name.replace('_', '-')}", **options)


def element_type(annotation: Any) -> tuple[Any, bool]:
    """Return the type of one value, and whether there may be several, of an annotation that may also be None.

    >>> element_type(list[int] | None)
    (<class 'int'>, True)
    """
    if get_origin(annotation) in {Union, types.UnionType}:
        (annotation,) = (part for part in get_args(annotation) if part is not type(None))
        inner, repeated = element_type(annotation)
        return (inner if repeated else inner | None), repeated
    if get_origin(annotation) is list:
        return get_args(annotation)[0], True
    return annotation, False


def options_of(parser: Any) -> list[str]:
    """Every option that a parser and its subcommands know, as it is written."""
    found: list[str] = []
    for action in parser._actions:
        found += action.option_strings
        if isinstance(action, _SubParsersAction):
            found += [option for inner in action.choices.values() for option in options_of(inner)]
    return found


def split(parser: CommandParser, arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Tell a parser's own arguments, with the values that follow them, from all others.

    An own option that is given several times is gathered into one, so that each adds values.
    """
    known = options_of(parser)
    positions: list[str] = []
    gathered: dict[str, list[str]] = {}
    others: list[str] = []
    values = positions
    for argument in arguments:
        if not argument.startswith("--") and argument not in known:
            values.append(argument)
            continue
        name, equals, value = argument.partition("=")
        if name in known:
            values = gathered.setdefault(name, [])
            values += [value] if equals else []
        else:
            others.append(argument)
            values = others
    return [*positions, *(part for name, found in gathered.items() for part in (name, *found))], others
