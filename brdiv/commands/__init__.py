"""The command `brdiv`: one file per command, each a typed and documented function of the file's name.

Only this folder knows of a command line. The files import what they need when they are called, so that help is instant.
"""

import difflib
import importlib
import pkgutil
import re
import sys
from collections.abc import Callable
from typing import Any

from brdiv import parent
from brdiv.errors import UserError
from brdiv.text import plain
from brdiv.version import __version__

LONGEST_COMPLAINT = 2000
HEAD = """\
usage: brdiv <command> [options]

Generate teammates worth training against: populations for ad hoc teamwork by Best-Response Diversity.

commands:
"""
TAIL = """
options:
  -h, --help     Show this text; `brdiv <command> --help` lists the options of a command.
  --version      Show the version.
"""


def command_names() -> list[str]:
    """Name every command: the files of this folder, `fit` first, as everything begins with it."""
    names = [module.name for module in pkgutil.iter_modules(__path__) if not module.ispkg]
    return sorted(names, key=lambda name: (name != "fit", name))


def load_command(name: str) -> Callable[..., None]:
    """Import the function of a command."""
    command: Callable[..., None] = getattr(importlib.import_module(f"{__name__}.{name}"), name)
    return command


def overview() -> str:
    """Write the help of the program: what each command does, and an example, both from its docstring."""
    lines = []
    for name in command_names():
        text = load_command(name).__doc__ or ""
        example = re.search(r"Example: `(.*)`", text)
        lines += [f"  {name:10} {text.splitlines()[0]}", f"  {'':10} {example.group(1) if example else ''}"]
    return HEAD + "\n".join(lines) + "\n" + TAIL


def main(arguments: list[str] | None = None) -> None:
    """Run the command named by the first argument. Whatever the user can mend is answered in one line, here alone."""
    if arguments is None:
        parent.end_with_parent()  # before anything is imported that takes its time
    command, *rest = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        if command in {"-h", "--help"}:
            print(overview(), end="")
        elif command == "--version":
            print(f"brdiv {__version__}")
        else:
            run(command, rest)
    except UserError as error:
        sys.exit(complain(error))
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        sys.stderr.close()
    except KeyboardInterrupt:
        sys.exit(130)


def run(name: str, arguments: list[str]) -> Any:
    """Call a command with what its arguments say."""
    names = command_names()
    if name not in names:
        near = difflib.get_close_matches(name, names, 1)
        hint = f"did you mean {near[0]}?" if near else "see brdiv --help"
        raise UserError(f"no command {name!r}; {hint}")
    from brdiv.commands.line.cores import is_crowded, wait_passively

    if is_crowded():
        wait_passively()  # before anything imports torch
    from brdiv.commands.line.parser import call

    return call(name, load_command(name), arguments)


def complain(error: BaseException) -> int:
    """Say in one line what is wrong, and what was noted with it on its way here; returns the exit code."""
    parts = [str(error), *getattr(error, "__notes__", [])]
    line = " ".join("; ".join(parts).splitlines())
    print(f"brdiv: error: {plain(line, LONGEST_COMPLAINT)}", file=sys.stderr)
    return 2
