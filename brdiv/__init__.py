"""brdiv: generate teammates worth training against, by Best-Response Diversity."""

from typing import TYPE_CHECKING, Any

from brdiv.doors.registration import register_when_imported
from brdiv.version import __version__

if TYPE_CHECKING:
    from brdiv.runs import load_population, save_population

__all__ = ["__version__", "load_population", "save_population"]


def __getattr__(name: str) -> Any:
    """Import torch and friends only when they are asked for: `brdiv --help` should not wait for them."""
    if name in {"load_population", "save_population"}:
        from brdiv import runs

        return getattr(runs, name)
    raise AttributeError(f"module 'brdiv' has no attribute {name!r}")


register_when_imported()
