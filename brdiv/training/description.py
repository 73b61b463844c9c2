"""What a run is of, in words that can be compared."""

from brdiv.games import Playable


def told(game: Playable) -> str:
    """Name a game with its settings."""
    settings = ", ".join(f"{name}={value}" for name, value in game.settings().items())
    return f"{type(game).__name__}({settings})"
