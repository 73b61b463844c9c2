"""One episode of every team of a population, to look at."""

import base64
from typing import NamedTuple

import torch
from matplotlib.figure import Figure

from brdiv.errors import UserError
from brdiv.figures import small_gif
from brdiv.report.results import RunResult
from brdiv.runs import load_population
from brdiv.teamwork import Recorder, both_seats, play


class Animation(NamedTuple):
    """A team at play."""

    team: int  # from 1
    steps: int
    total: float
    source: str  # a data address that holds the picture


class Cast(NamedTuple):
    """All teams of a population at play, and what the signs in the pictures mean."""

    animations: list[Animation]
    signs: list[str]


def animate(run: RunResult, allow_imports: bool = False, seed: int = 0) -> Cast:
    """Let every team of a population play one episode."""
    population, game, _ = load_population(run.cell.run.path, allow_imports)
    if not game.view_size:
        raise UserError(f"{type(game).__name__} environments draw themselves; brdiv can't")
    recorder, n_types = Recorder(population.n_types), population.n_types
    own = torch.arange(n_types)[:, None].expand(-1, 2)
    play(game, *both_seats(population), own, torch.Generator().manual_seed(seed), watch=[recorder])
    axes = Figure().add_subplot()
    game.draw(recorder.episodes[0][0].view, axes)
    found = []
    for team, frames in enumerate(recorder.episodes, 1):
        picture = base64.b64encode(small_gif(game, frames)).decode()
        found.append(Animation(team, frames[-1].step, frames[-1].total, f"data:image/gif;base64,{picture}"))
    return Cast(found, axes.get_legend_handles_labels()[1])
