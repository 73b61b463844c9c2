"""What is possible with each scripted teammate of a game, by training a best response to it alone."""

import json
import math
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from lightning import Trainer, seed_everything

from brdiv.errors import UserError
from brdiv.games import Playable
from brdiv.learners.data import LearnerData
from brdiv.learners.measuring import play_with_each
from brdiv.learners.methods import PPO
from brdiv.learners.module import LearnerModule
from brdiv.version import __version__


class Bound(NamedTuple):
    """What the best response to one teammate earns with it."""

    teammate: str
    mean_return: float
    half_width: float  # of the 95 % interval of the mean, over episodes
    discounted_return: float
    mean_length: float
    steps: int  # of training


def heuristic_bounds(
    game: Playable, steps: int = 2_000_000, episodes: int = 1024, seed: int = 0, rows: int = 256, window: int = 32
) -> Iterator[Bound]:
    """Train a best response to each heuristic of a game in turn, and measure it on episodes it was not trained on."""
    heuristics = game.heuristics()
    if heuristics is None:
        raise UserError(f"{type(game).__name__} has no heuristic teammates")
    for name in heuristics.names:
        module, data = train_response(game, name, steps, seed, rows, window)
        generator = torch.Generator().manual_seed(seed)
        played = play_with_each(module.net, data.found, episodes, generator)
        returns = played.returns[0]
        spread = float(returns.std()) if episodes > 1 else 0.0
        discounted, length = float(played.discounted.mean()), float(played.lengths.float().mean())
        half_width = 1.96 * spread / math.sqrt(episodes)
        yield Bound(name, float(returns.mean()), half_width, discounted, length, steps)


def train_response(
    game: Playable, teammate: str, steps: int, seed: int, rows: int, window: int
) -> tuple[LearnerModule, LearnerData]:
    """Train a learner with one teammate, as `brdiv learn --teammates H3` does, without files."""
    seed_everything(seed, verbose=False)
    data = LearnerData([teammate], game=game, rows=rows, window=window, steps=steps, seed=seed)
    quiet: dict[str, Any] = dict.fromkeys(("logger", "enable_checkpointing", "enable_progress_bar"), False)
    trainer = Trainer(max_epochs=1, devices=1, accelerator="cpu", enable_model_summary=False, **quiet)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Lightning's advice none applies here
        module = LearnerModule(game.observation_size, game.n_actions, PPO())
        trainer.fit(module, datamodule=data)
    return module, data


def write_bounds(path: Path, game: Playable, bounds: list[Bound], **made_with: int) -> None:
    """Write bounds down beside how they were found."""
    told = {
        "game": {"name": type(game).__name__, "settings": game.settings()},
        "version": __version__,
        "made_with": made_with,
        "bounds": {bound.teammate: bound._asdict() for bound in bounds},
    }
    path.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
