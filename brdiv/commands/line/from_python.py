"""`brdiv fit` as a function: settings of a call become those of a command line."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brdiv.doors.python import LoadedPopulation, load_population

if TYPE_CHECKING:
    import os


def train(config: "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]", **settings: Any) -> LoadedPopulation:
    """Train a population in this process, as `brdiv fit` does, and return it; files go to its run folder.

    Args:
        config: Config file, or the name of a shipped one, or several, of which later ones win.
        settings: Settings as in the config: ``train("reaching", seed_everything=1, data={"steps": 100_000}, run="r")``.

    """
    from brdiv.callbacks import RunStopped
    from brdiv.commands.line.cli import TrainingCLI
    from brdiv.commands.line.training import make_cli
    from brdiv.runs import RunFolder

    files = [config] if isinstance(config, str) or hasattr(config, "__fspath__") else list(config)
    arguments = [f"--config={Path(file)}" for file in files]
    try:
        cli = make_cli(TrainingCLI, [*arguments, *as_options(settings)])
    except RunStopped as stop:
        raise KeyboardInterrupt(f"{stop}; saved as {stop.path}" if stop.path else str(stop)) from None
    return load_population(RunFolder(cli.trainer.default_root_dir).population, allow_imports=True)


def as_options(settings: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Write settings as options, those within others with dots.

    >>> list(as_options({"threads": 1, "data": {"steps": 100, "game": "LBF"}, "model": {"hidden": [8, 8]}}))
    ['--threads=1', '--data.steps=100', '--data.game=LBF', '--model.hidden=[8, 8]']
    """
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            yield from as_options(value, f"{prefix}{name}.")
        else:
            yield f"--{prefix}{name}={value if isinstance(value, str | Path) else json.dumps(value)}"
