"""The command `brdiv`: one file per command, each a typed and documented function of the file's name.

Only this folder knows of a command line. The files import what they need when they are called, so that help is instant.
"""

import difflib
import errno
import importlib
import pkgutil
import re
import sys
from collections.abc import Callable
from typing import Any

from brdiv import parent
from brdiv.errors import UserError
from brdiv.text import has_endless_number, plain
from brdiv.version import __version__

LONGEST_COMPLAINT = 900  # signs; of a longer one the middle is left out
REFUSALS = {getattr(errno, name, None) for name in (
    "EACCES", "EDQUOT", "EISDIR", "ELOOP", "ENAMETOOLONG", "ENOSPC", "ENOTDIR", "EPERM", "EROFS",
)}  # fmt: skip
"""What the user's machine may answer, wherever it is asked: a disk is full, a name is too long."""
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
    if command in {"-h", "--help"}:
        answer(lambda: print(overview(), end=""))
    elif command == "--version":
        answer(lambda: print(f"brdiv {__version__}"))
    else:
        answer(lambda: run(command, rest))


def answer(work: Callable[[], Any]) -> None:
    """Do some work; what ends it, and the user can mend, is said in one line."""
    try:
        work()
    except UserError as error:
        sys.exit(complain(error))
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "can't allocate memory" not in str(error):
            raise
        sys.exit(complain(UserError("this takes more memory than this machine has")))
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        sys.stderr.close()
    except OSError as error:
        if error.errno not in REFUSALS:
            raise
        sys.exit(complain(error))
    except KeyboardInterrupt:
        sys.exit(130)


def run(name: str, arguments: list[str]) -> Any:
    """Call a command with what its arguments say."""
    names = command_names()
    if name not in names:
        near = difflib.get_close_matches(name, names, 1)
        hint = f"did you mean {near[0]}?" if near else "see brdiv --help"
        raise UserError(f"no command {name!r}; {hint}")
    if any(has_endless_number(argument) for argument in arguments):
        raise UserError("an option has a number of a thousand digits and more")
    from brdiv.commands.line.cores import is_crowded, wait_passively

    if is_crowded():
        wait_passively()  # before anything imports torch
    from brdiv.commands.line.parser import call

    return call(name, load_command(name), arguments)


def complain(error: BaseException) -> int:
    """Say in one line what is wrong, and what was noted with it on its way here; returns the exit code."""
    told = str(error)
    if isinstance(error, OSError) and not isinstance(error, UserError):
        told = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
    line = " ".join("; ".join([told, *getattr(error, "__notes__", [])]).splitlines())
    if len(line) > LONGEST_COMPLAINT:  # what is wrong stands in front, what to do about it at the end
        line = f"{line[: LONGEST_COMPLAINT // 2]} ... {line[-LONGEST_COMPLAINT // 3 :]}"
    print(f"brdiv: error: {plain(line, LONGEST_COMPLAINT)}", file=sys.stderr)
    return 2
