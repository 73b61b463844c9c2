"""One config, many seeds: how often it works."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch

from brdiv.errors import LARGEST_SEED, UserError
from brdiv.games import Playable
from brdiv.metrics import best_response_diversity, interchangeable_groups, mean_diagonal, mean_off_diagonal
from brdiv.nets import Population
from brdiv.runs import load_population
from brdiv.teamwork import NoisyPolicies, TeamStrategy, both_seats, cross_play, play_pairs, team_strategies
from brdiv.text import plain

MOST_SEEDS = 10_000
NOISE = 0.4
"""Share of a teammate's actions that are replaced by random ones, to see how brittle its best response is."""


class SeedResult(NamedTuple):
    """What one seed's population does, measured anew from its file."""

    seed: int
    label: str  # the method, as its paper writes it
    n_types: int
    groups: int  # of interchangeable teams
    strategies: int | None  # distinct ways in which its teams win the game; None where they can't be told apart
    diagonal: float
    off_diagonal: float
    brdiv: float
    length: float  # of self-play episodes
    noisy: float  # mean return of best responses with their own teammates, some of whose actions are random
    run: Path

    @property
    def complete(self) -> bool:
        """Whether no teammate can stand in for another."""
        return self.groups == self.n_types


def measure(seed: int, path: Path, episodes: int, allow_imports: bool = False) -> SeedResult:
    """Play so many episodes of every pair of a population file anew."""
    population, game, about = load_population(path, allow_imports)
    generator = torch.Generator().manual_seed(seed)
    played = cross_play(game, *both_seats(population), episodes, generator)
    matrix = played.returns.mean(-1)
    teams = team_strategies(game, *both_seats(population), episodes, generator)
    return SeedResult(
        seed,
        str(about.get("method", {}).get("label", "unknown")),
        population.n_types,
        len(interchangeable_groups(matrix)),
        None if teams is None else distinct(teams),
        float(mean_diagonal(matrix)),
        float(mean_off_diagonal(matrix)),
        float(best_response_diversity(matrix)),
        float(played.lengths.diagonal().float().mean()),
        return_with_noise(population, game, episodes, generator),
        path.parent,
    )


def distinct(teams: Sequence[TeamStrategy | None]) -> int:
    """Count the strategies of teams that win at all."""
    return len({team.name for team in teams if team is not None})


def return_with_noise(
    population: Population, game: Playable, episodes: int, generator: torch.Generator, share: float = NOISE
) -> float:
    """Mean return of every best response with its own teammate, a share of whose actions is random."""
    teammates, responses = both_seats(population)
    noisy = NoisyPolicies(teammates, share, game.n_actions)
    own = torch.arange(population.n_types)[:, None].expand(-1, 2)
    return float(play_pairs(game, noisy, responses, own, episodes, generator).returns.mean())


def parse_seeds(text: str) -> list[int]:
    """Read seeds as a list of numbers and ranges.

    >>> parse_seeds("0-3,7,2")
    [0, 1, 2, 3, 7]
    """
    seeds: list[int] = []
    shown = repr(plain(text, 100))
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not are_digits(first) or (dash and not are_digits(last)):
            raise UserError(f"seeds {shown}: give numbers and ranges, as in 0-9 or 1,4,7")
        least, most = int(first), int(last or first)
        if most < least or most > LARGEST_SEED:
            raise UserError(f"seeds {shown}: a range goes up, and no seed is above {LARGEST_SEED:,}")
        if len(seeds) + most - least >= MOST_SEEDS:
            raise UserError(f"seeds {shown}: at most {MOST_SEEDS:,} are trained")
        seeds += range(least, most + 1)
    return list(dict.fromkeys(seeds))


def are_digits(text: str) -> bool:
    """Whether some text is a number, and not one of a page."""
    return text.isascii() and text.isdecimal() and len(text) <= 10
