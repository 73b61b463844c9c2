"""What a run is of, in words that can be compared."""

from typing import Any

from brdiv.training.data import RolloutData
from brdiv.training.module import TeammateGenerator


def made_with(module: TeammateGenerator, data: RolloutData) -> dict[str, Any]:
    """What must be the same when a run is resumed: the game, the method, and how rows are split. Weights may change."""
    rows = f"{data.pairing.self_play_rows} of self-play and {data.pairing.cross_play_rows} of cross-play"
    if data.pairing.mixed_play_rows:
        rows = f"{rows} and {data.pairing.mixed_play_rows} of mixed play"
    settings = ", ".join(f"{name}={value}" for name, value in data.game.settings().items())
    return {
        "game": f"{type(data.game).__name__}({settings})",
        "method": type(module.objective).__name__,
        "rows": rows,
    }
