"""What the shipped configs come to when `brdiv fit` reads them."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import yaml

from brdiv.commands.line.cli import TrainingCLI
from brdiv.commands.line.training import make_cli
from brdiv.configs import shipped_configs
from brdiv.errors import UserError


class ReadOnly(TrainingCLI):
    """Reads what `brdiv fit` would be set up with, and builds nothing."""

    def before_instantiate_classes(self) -> None:
        """Check nothing and set no threads: nothing will run."""

    def instantiate_classes(self) -> None:
        """Build nothing."""

    def _run_subcommand(self, subcommand: str) -> None:
        """Run nothing."""


@cache
def shipped_settings(game: str, method: str) -> Mapping[str, Any] | None:
    """Every setting of a game's config with a method's on top of it; None if the game's config is not a shipped one.

    A method's config that is not shipped is left out, so that all it says is a difference.
    """
    known = shipped_configs()
    if game not in known:
        return None
    overlay = ["--config", f"methods/{method}"] if f"methods/{method}" in known else []
    try:
        cli = make_cli(ReadOnly, ["--config", game, *overlay])
    except UserError:
        return None
    # Through the text that runs are saved as, so that both sides are written alike.
    found: dict[str, Any] = yaml.safe_load(cli._subcommand_parsers["fit"].dump(cli.config.fit, skip_none=False))
    return found
