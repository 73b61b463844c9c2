"""Two agents, named as in `brdiv play`, play each other."""

import math
from pathlib import Path
from typing import NamedTuple

import torch

import brdiv.envs
from brdiv.envs import Game, Task
from brdiv.match import Match, play_pairs
from brdiv.nets import Population
from brdiv.plastic import Plastic
from brdiv.populations import load_population
from brdiv.render import record, save_gif
from brdiv.teammates import LearnedPolicies, Policies, heuristics_of


class DuelError(ValueError):
    """Why two agents can't play each other."""


class Agent(NamedTuple):
    """One policy of several, in its seat."""

    name: str
    policies: Policies
    number: int


class Result(NamedTuple):
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


def find_agents(first: str, second: str, game_name: str | None, allow_imports: bool) -> tuple[Task, Agent, Agent]:
    """Look both agents up; a game must be named where no file tells it."""
    texts = (first, second)
    files = [text.rpartition(":")[0] for text in texts]
    loaded = {file: load_population(file, allow_imports) for file in files if file}
    games = [saved.game for saved in loaded.values()]
    if game_name:
        found = getattr(brdiv.envs, game_name, None)
        if not (isinstance(found, type) and issubclass(found, Game) and found is not Game):
            raise DuelError(f"no game {game_name!r}")
        games.append(found())
    if not games:
        raise DuelError("two heuristics: give --game to say what they play")
    if not all(game.same_as(games[0]) for game in games):
        raise DuelError(f"{first} and {second} play different games")
    one, other = (
        find_agent(text, loaded[file].population if file else None, games[0], s)
        for s, (text, file) in enumerate(zip(texts, files, strict=True))
    )
    return games[0], one, other


def find_agent(text: str, population: Population | None, game: Task, seat: int) -> Agent:
    """Look one agent up: of a population, or a heuristic where there is none."""
    if population is None:
        try:
            heuristics = heuristics_of(game)
        except ValueError as error:
            raise DuelError(str(error)) from None
        if text not in heuristics.names:
            hint = " (a population file needs a number, as in FILE:1)" if Path(text).exists() else ""
            raise DuelError(f"no heuristic {text}{hint}; {type(game).__name__} has {', '.join(heuristics.names)}")
        return Agent(text, heuristics, heuristics.names.index(text))
    which = text.rpartition(":")[2]
    if which == "plastic" and seat == 0:
        raise DuelError(f"{text}: the learner sits in the best response's seat; name it second")
    if which == "plastic":
        return Agent("PLASTIC", Plastic(population), 0)
    if not which.isdigit() or not 1 <= int(which) <= population.n_types:
        raise DuelError(f"{text}: after the colon give a number from 1 to {population.n_types}, or plastic")
    role = "teammate" if seat == 0 else "best response"
    return Agent(f"{role} {which}", LearnedPolicies(population, seat), int(which) - 1)


def duel(game: Task, one: Agent, other: Agent, episodes: int, seed: int) -> Result:
    """Play so many complete episodes."""
    generator = torch.Generator().manual_seed(seed)
    pair = torch.tensor([[one.number, other.number]])
    played = play_pairs(game, one.policies, other.policies, pair, episodes, generator)
    returns = played.returns[0]
    spread = float(returns.std()) if episodes > 1 else 0.0
    return Result(
        type(game).__name__,
        one.name,
        other.name,
        episodes,
        float(returns.mean()),
        1.96 * spread / math.sqrt(episodes),
        float(played.lengths.float().mean()),
    )


def film(game: Task, one: Agent, other: Agent, path: Path, seed: int) -> int:
    """Write one episode as an animation; returns the number of frames."""
    if not isinstance(game, Game):
        raise DuelError(f"{type(game).__name__} environments draw themselves; brdiv can't render them")
    generator = torch.Generator().manual_seed(seed)
    pair = torch.tensor([[one.number, other.number]])
    frames = record(game, lambda: Match(one.policies, other.policies, pair, generator), 1, generator)
    save_gif(path, game, frames, f"{one.name} with {other.name}")
    return len(frames)
