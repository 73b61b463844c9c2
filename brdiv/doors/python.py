"""What commands do, as functions that return what they found: for notebooks and scripts."""

import os
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from brdiv.doors.players import PlasticPlayer, Player
from brdiv.errors import UserError
from brdiv.evaluation import evaluate as evaluating
from brdiv.evaluation.agents import PairResult, find_pair, measure_pair, record_pair
from brdiv.evaluation.runs import load_runs, select_runs
from brdiv.evaluation.scores import Evaluation
from brdiv.games import RESPONSE, TEAMMATE
from brdiv.runs import SavedPopulation
from brdiv.runs import load_population as load_saved
from brdiv.teamwork import GAMMA, both_seats, cross_play

StrPath = str | os.PathLike[str]


class LoadedPopulation(SavedPopulation):
    """A population that can be asked. It is also the tuple (population, game, about)."""

    __slots__ = ()

    def teammate(self, number: int, seed: int = 0) -> Player:
        """Teammate ``number``, counted from 1 as in tables and in FILE:3."""
        return Player(self.population, TEAMMATE, number, seed)

    def best_response(self, number: int, seed: int = 0) -> Player:
        """The best response to teammate ``number``."""
        return Player(self.population, RESPONSE, number, seed)

    def plastic(self, seed: int = 0, eta: float = 1.0) -> PlasticPlayer:
        """The learner prepared with all of them (PLASTIC Policy)."""
        return PlasticPlayer(self.population, seed, eta)

    def cross_play(self, episodes: int = 256, seed: int = 0) -> Tensor:
        """Mean returns ``[K, K]`` of every teammate (row) with every best response (column), each measured by play."""
        generator = torch.Generator().manual_seed(seed)
        return cross_play(self.game, *both_seats(self.population), episodes, generator).returns.mean(-1)


def load_population(path: StrPath, allow_imports: bool = False) -> LoadedPopulation:
    """Read a population file, or that of a run folder, as something to ask. `brdiv.runs.load_population` says more."""
    return LoadedPopulation(*load_saved(path, allow_imports))


def evaluate(
    runs: StrPath | Sequence[StrPath],
    teammates: StrPath | Sequence[StrPath] = "heuristics",
    episodes: int = 64,
    seed: int = 0,
    gamma: float = GAMMA,
    allow_imports: bool = False,
) -> Evaluation:
    """Let learners prepared with generated teammates (PLASTIC Policy) play with strangers, as `brdiv evaluate` does.

    Args:
        runs: Population files, run folders, or folders of runs, one or several.
        teammates: ``heuristics``, runs whose teammates are the strangers, or both.
        episodes: Number of complete episodes of each pair.
        seed: Seed of the episodes.
        gamma: Discount of the robustness measure.
        allow_imports: Import the custom game or external environment that a trusted file names.

    """
    ours, names = as_paths(runs), [str(name) for name in as_paths(teammates)]
    generated = [Path(name) for name in names if name != "heuristics"]
    everyone = load_runs([*ours, *generated], allow_imports)
    strangers = select_runs(everyone, generated) if generated else None
    learners = select_runs(everyone, ours)
    return evaluating.evaluate(learners, strangers, episodes, seed, gamma, heuristics="heuristics" in names)


def as_paths(paths: StrPath | Sequence[StrPath]) -> list[Path]:
    """Take one for a list of one."""
    return [Path(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]


def play(
    first: str,
    second: str,
    game: str | None = None,
    episodes: int = 256,
    seed: int = 0,
    out: StrPath | None = None,
    drawn: int = 1,
    allow_imports: bool = False,
) -> PairResult:
    """Let two agents play each other, as `brdiv play` does: agents are FILE:3, FILE:plastic, H3 and random.

    Args:
        first: Agent in the teammate's seat.
        second: Agent in the best response's seat.
        game: Name of the game, needed where neither agent is of a population file.
        episodes: Number of complete episodes to measure.
        seed: Seed of the episodes.
        out: File to draw episodes to: a .gif animation, or a .png strip of pictures.
        drawn: Number of episodes to draw.
        allow_imports: Import the custom game or external environment that a trusted file names.

    """
    path = None if out is None else Path(out)
    if path is not None and path.suffix not in {".gif", ".png"}:
        raise UserError(f"{path} ends in neither .gif nor .png")
    pair = find_pair(first, second, game, allow_imports)
    result = measure_pair(pair, episodes, seed)
    if path is not None:
        from brdiv.figures import save_gif, save_strip

        save = save_gif if path.suffix == ".gif" else save_strip
        title = f"{type(pair.game).__name__}: {pair.first.name} with {pair.second.name}"
        save(path, pair.game, record_pair(pair, drawn, seed), title)
    return result
