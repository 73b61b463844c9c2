"""The command `brdiv`. Each command imports what it needs when it is called, so that help is instant."""

import sys

from brdiv.version import __version__

HELP = """\
usage: brdiv <command> [options]

Generate teammates worth training against: populations for ad hoc teamwork by Best-Response Diversity.

commands:
  fit        train a population                     brdiv fit --config configs/reaching.yaml

options:
  -h, --help     this text; `brdiv <command> --help` lists the options of a command
  --version      print the version
"""


def main(arguments: list[str] | None = None) -> None:
    """Run the command named by the first argument."""
    arguments = sys.argv[1:] if arguments is None else arguments
    command, rest = (arguments[0], arguments[1:]) if arguments else ("--help", [])
    if command in {"-h", "--help"}:
        print(HELP, end="")
    elif command == "--version":
        print(f"brdiv {__version__}")
    elif command == "fit":
        from brdiv.training_cli import fit

        fit(rest)
    else:
        print(f"brdiv: error: no command {command!r}; see brdiv --help", file=sys.stderr)
        sys.exit(2)
