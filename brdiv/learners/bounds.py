"""What is possible with each scripted teammate of a game: what a best response that was trained to it alone earns."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch

from brdiv.doors.teammates import find_teammates
from brdiv.errors import UserError
from brdiv.games import Playable
from brdiv.learners.measuring import play_with_each
from brdiv.runs import SavedLearner
from brdiv.runs.whole import write_whole
from brdiv.version import __version__


class Bound(NamedTuple):
    """What the best response to one teammate earns with it."""

    teammate: str
    mean_return: float
    half_width: float  # of the 95 % interval of the mean, over episodes
    discounted_return: float
    mean_length: float
    steps: int  # of training


def measure_bound(response: SavedLearner, teammate: str, episodes: int, seed: int = 0) -> Bound:
    """Let a best response play with the heuristic that it was trained with, on episodes it was not trained on."""
    check_response(response, teammate)
    generator = torch.Generator().manual_seed(seed)
    played = play_with_each(response.net, find_teammates(teammate, response.game), episodes, generator)
    returns = played.returns[0]
    spread = float(returns.std()) if episodes > 1 else 0.0
    discounted, length = float(played.discounted.mean()), float(played.lengths.float().mean())
    half_width = 1.96 * spread / math.sqrt(episodes)
    steps = int(response.about["steps"])
    return Bound(teammate, float(returns.mean()), half_width, discounted, length, steps)


def check_response(response: SavedLearner, teammate: str) -> None:
    """Refuse a learner that was trained with somebody else, too: it is no best response to this one."""
    known = response.about["teammates"]
    if known != [teammate]:
        raise UserError(f"a learner trained with {', '.join(known)} is no best response to {teammate}")


def heuristic_names(game: Playable) -> list[str]:
    """Names of a game's scripted teammates, of which there must be some."""
    heuristics = game.heuristics()
    if heuristics is None:
        raise UserError(f"{type(game).__name__} has no heuristic teammates")
    return list(heuristics.names)


def write_bounds(path: Path, game: Playable, bounds: list[Bound], made_with: Mapping[str, Any]) -> None:
    """Write bounds down beside how they were found, whole or not at all."""
    told = {
        "game": {"name": type(game).__name__, "settings": game.settings()},
        "version": __version__,
        "made_with": dict(made_with),
        "bounds": {bound.teammate: bound._asdict() for bound in bounds},
    }
    write_whole(path, json.dumps(told, indent=1) + "\n")
