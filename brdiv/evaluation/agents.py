"""Agents by name, as in `brdiv play`: who they are, and what two of them earn together."""

import math
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from brdiv.errors import UserError
from brdiv.evaluation.evaluate import heuristics_of
from brdiv.games import TEAMMATE, Frame, Playable, Policies, shipped_games
from brdiv.nets import Population
from brdiv.runs import SavedLearner, is_learner, load_learner, load_population
from brdiv.teamwork import LearnedPolicies, Plastic, RandomPolicies, Recorder, TrainedLearner, play, play_pairs


class Agent(NamedTuple):
    """One policy of several, in its seat."""

    name: str
    policies: Policies
    number: int


class Pair(NamedTuple):
    """Two agents and what they play."""

    game: Playable
    first: Agent
    second: Agent

    @property
    def numbers(self) -> Tensor:
        """Numbers ``[1, 2]`` of both within their policies."""
        return torch.tensor([[self.first.number, self.second.number]])


class PairResult(NamedTuple):
    """What two agents earned together."""

    game: str
    first: str
    second: str
    episodes: int
    mean_return: float
    half_width: float  # of the 95 % interval of the mean, over episodes
    mean_length: float

    def __str__(self) -> str:
        """Say it in two lines."""
        interval = f" +- {self.half_width:.3f} (95 %)" if self.episodes > 1 else ""
        return (
            f"{self.game}: {self.first} with {self.second}, {self.episodes} episodes\n"
            f"return {self.mean_return:.3f}{interval}, {self.mean_length:.1f} steps"
        )


def find_pair(first: str, second: str, game_name: str | None = None, allow_imports: bool = False) -> Pair:
    """Look two agents up by name; a game must be named where no file tells it.

    A trained learner has but one seat, and takes it whichever of the two is named first.
    """
    if is_learner(first) and not is_learner(second):
        first, second = second, first
    texts = (first, second)
    trained = {text: load_learner(text, allow_imports) for text in texts if is_learner(text)}
    files = [text.rpartition(":")[0] if text not in trained else "" for text in texts]
    loaded = {file: load_population(file, allow_imports) for file in files if file}
    games = [*(saved.game for saved in loaded.values()), *(saved.game for saved in trained.values())]
    if game_name:
        games.append(find_game(game_name))
    if not games:
        raise UserError("neither agent is of a file: give --game to say what they play")
    if not all(game.same_as(games[0]) for game in games):
        raise UserError(f"{first} and {second} play different games")
    one, other = (
        find_trained(text, trained[text], seat)
        if text in trained
        else find_agent(text, loaded[file].population if file else None, games[0], seat)
        for seat, (text, file) in enumerate(zip(texts, files, strict=True))
    )
    return Pair(games[0], one, other)


def find_game(name: str) -> Playable:
    """Build one of brdiv's games by name."""
    known = shipped_games()
    if name not in known:
        raise UserError(f"no game {name!r}; there are {', '.join(known)}")
    return known[name]()


def find_agent(text: str, population: Population | None, game: Playable, seat: int) -> Agent:
    """Look one agent up: of a population, or `random` or a heuristic where there is none."""
    if population is not None:
        return find_learned(text, population, seat)
    if text == "random":
        return Agent(text, RandomPolicies(game.n_actions), 0)
    heuristics = heuristics_of(game)
    if text not in heuristics.names:
        hint = " (a population file needs a number, as in FILE:1)" if Path(text).exists() else ""
        raise UserError(f"no heuristic {text}{hint}; {type(game).__name__} has {', '.join(heuristics.names)}")
    return Agent(text, heuristics, list(heuristics.names).index(text))


def find_learned(text: str, population: Population, seat: int) -> Agent:
    """Look up FILE:K or FILE:plastic in the population of the file."""
    which = text.rpartition(":")[2]
    if which == "plastic" and seat == TEAMMATE:
        raise UserError(f"{text}: the learner sits in the best response's seat; name it second")
    if which == "plastic":
        return Agent("PLASTIC", Plastic(population), 0)
    if not which.isdigit() or not 1 <= int(which) <= population.n_types:
        raise UserError(f"{text}: after the colon give a number from 1 to {population.n_types}, or plastic")
    role = "teammate" if seat == TEAMMATE else "best response"
    return Agent(f"{role} {which}", LearnedPolicies(population, seat), int(which) - 1)


def find_trained(text: str, saved: SavedLearner, seat: int) -> Agent:
    """Return the learner of a file, who sits in the best response's seat."""
    if seat == TEAMMATE:
        raise UserError(f"{text}: a learner sits in the best response's seat; two of them can't play")
    label = str(saved.about.get("method", {}).get("label") or "learner")
    return Agent(label, TrainedLearner(saved.net, label), 0)


def measure_pair(pair: Pair, episodes: int, seed: int) -> PairResult:
    """Play so many complete episodes."""
    generator = torch.Generator().manual_seed(seed)
    played = play_pairs(pair.game, pair.first.policies, pair.second.policies, pair.numbers, episodes, generator)
    returns = played.returns[0]
    spread = float(returns.std()) if episodes > 1 else 0.0
    return PairResult(
        type(pair.game).__name__,
        pair.first.name,
        pair.second.name,
        episodes,
        float(returns.mean()),
        1.96 * spread / math.sqrt(episodes),
        float(played.lengths.float().mean()),
    )


def record_pair(pair: Pair, episodes: int, seed: int) -> list[Frame]:
    """Play so many episodes and keep every moment."""
    if not pair.game.view_size:
        raise UserError(f"{type(pair.game).__name__} environments draw themselves; brdiv can't")
    recorder = Recorder(episodes)
    generator = torch.Generator().manual_seed(seed)
    rows = pair.numbers.repeat(episodes, 1)
    play(pair.game, pair.first.policies, pair.second.policies, rows, generator, watch=[recorder])
    return recorder.frames()
