"""Makes the games known to Gymnasium as soon as both packages are imported, in either order, without importing it.

Importing Gymnasium takes ten times as long as `brdiv --help`. It looks for no plugins of its own accord (since 1.0), so
until someone imports it, a finder waits for that.
"""

import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

NAMES = ("Reaching", "LBF", "Cooking")
WAITED_FOR = "gymnasium.envs"
"""The package that has the registry: it is complete when this has been imported."""


def register_games() -> None:
    """Register an environment per shipped game, unless that was done before."""
    from gymnasium.envs.registration import register, registry

    for name in NAMES:
        if f"brdiv/{name}-v0" not in registry:
            register(
                f"brdiv/{name}-v0",
                entry_point="brdiv.doors.gymnasium:TeammateEnv",
                vector_entry_point="brdiv.doors.vector:TeammateVectorEnv",
                kwargs={"game": name},
            )


class GymnasiumAwaited:
    """A finder that finds nothing but Gymnasium's registry, once, to fill it when it is there."""

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Step aside, and have the games registered after the module's own code has run."""
        if name != WAITED_FOR:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                register_games()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def register_when_imported() -> None:
    """Register now where Gymnasium is imported already, else as soon as it is."""
    if WAITED_FOR in sys.modules:
        register_games()
    elif not any(isinstance(finder, GymnasiumAwaited) for finder in sys.meta_path):
        sys.meta_path.insert(0, GymnasiumAwaited())
