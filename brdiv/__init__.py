"""brdiv: generate teammates worth training against, by Best-Response Diversity."""

from typing import TYPE_CHECKING, Any

from brdiv.doors.registration import register_when_imported
from brdiv.version import __version__

if TYPE_CHECKING:
    from brdiv.commands.line.from_python import train
    from brdiv.doors.python import evaluate, load_population, play
    from brdiv.runs import save_population

__all__ = ["__version__", "evaluate", "load_population", "play", "save_population", "train"]

HOMES = {
    "evaluate": "brdiv.doors.python",
    "load_population": "brdiv.doors.python",
    "play": "brdiv.doors.python",
    "save_population": "brdiv.runs",
    "train": "brdiv.commands.line.from_python",
}


def __getattr__(name: str) -> Any:
    """Import torch and friends only when they are asked for: `brdiv --help` should not wait for them."""
    if name not in HOMES:
        raise AttributeError(f"module 'brdiv' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(HOMES[name]), name)


register_when_imported()
