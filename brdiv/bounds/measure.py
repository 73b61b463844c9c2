"""How far one response serves several teams: trained, then measured against what each earns with its own."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from brdiv.bounds.cover import MOST_TEAMS, smallest_cover
from brdiv.bounds.responses import Group, PolicyStack, StackedPolicies, pairs_of
from brdiv.bounds.training import Settings, train_responses
from brdiv.errors import UserError
from brdiv.games import Playable
from brdiv.nets import Population
from brdiv.teamwork import both_seats, play_pairs

ENOUGH = 0.95
"""Share of what a team earns with its own best response from which on another one serves it."""

ABLE = 0.5
"""Share of what the best team earns in self-play below which a team has not learned the game."""

Tell = Callable[[str, int, int], None]
"""Hears what is trained, how many updates of it are done, and how many there will be."""


class Served(NamedTuple):
    """How one response does with the teams that it was trained with."""

    group: Group
    returns: tuple[float, ...]  # mean return with each of them
    shares: tuple[float, ...]  # of what each earns with its own best response

    @property
    def share(self) -> float:
        """The smallest of them; NaN if one of the teams earns nothing with its own."""
        return float(torch.tensor(self.shares).min())


class Bounds(NamedTuple):
    """What was found of one population."""

    own: tuple[float, ...]  # mean return of every team in self-play
    served: list[Served]  # by a response to every team alone, then to every pair of those that have learned the game
    groups: list[list[int]]  # as few as possible, so that in each any two teams are served by one response
    whole: list[Served]  # by a response to each of those groups that has more than two teams
    steps: int  # that every response was trained for
    seconds: float

    @property
    def able(self) -> list[int]:
        """Teams that have learned the game, which alone are judged."""
        return able_teams(self.own)

    @property
    def needed(self) -> int:
        """Best responses without which it can't be done, as far as training could tell: no pair crosses these groups.

        Serving any two teams of a group does not prove serving all of them.
        """
        return len(self.groups)

    @property
    def enough(self) -> int:
        """Best responses that were seen to do: one a group where it serves all of it, else one for every two teams."""
        failed = {served.group for served in self.whole if served.share < ENOUGH}
        return sum(-(-len(group) // 2) if tuple(group) in failed else 1 for group in self.groups)

    @property
    def too_short(self) -> list[int]:
        """Teams whose own response, trained like the others, falls short: training can't tell anything of them."""
        return [team for team in self.able if self.served[team].share < ENOUGH]

    def matrix(self) -> Tensor:
        """Smaller share of each pair of teams, ``[K, K]``; NaN where a team has not learned the game."""
        matrix = torch.full((len(self.own), len(self.own)), torch.nan)
        for served in self.served:
            i, j = served.group[0], served.group[-1]
            if {i, j} <= set(self.able):
                matrix[i, j] = matrix[j, i] = served.share
        return matrix


def able_teams(own: Sequence[float]) -> list[int]:
    """Teams that earn something in self-play, and at least half of what the best one does.

    >>> able_teams([1.0, 0.4, 0.5, 0.0])
    [0, 2]
    """
    return [team for team, earned in enumerate(own) if earned > 0 and earned >= ABLE * max(own)]


def find_bounds(
    population: Population,
    game: Playable,
    settings: Settings,
    episodes: int = 500,
    seed: int = 0,
    tell: Tell = lambda what, done, total: None,
) -> Bounds:
    """Train a response to every pair of teams, and find how many responses the population needs."""
    began = time.perf_counter()
    check_teams(population.n_types)
    generator = torch.Generator().manual_seed(seed)
    themselves = torch.arange(population.n_types)[:, None].expand(-1, 2)
    own = play_pairs(game, *both_seats(population), themselves, episodes, generator).returns.mean(-1).tolist()
    teams = able_teams(own)
    if not teams:
        raise UserError("no team earns anything with its own best response: there is nothing to compare with")
    asked = [*((team,) for team in range(population.n_types)), *pairs_of(teams)]
    served = train_and_measure(population, game, asked, own, settings, episodes, seed, tell)
    groups = smallest_cover(serves(served, population.n_types), teams)
    large = [tuple(group) for group in groups if len(group) > 2]
    whole = train_and_measure(population, game, large, own, settings, episodes, seed + 1, tell) if large else []
    return Bounds(tuple(own), served, groups, whole, settings.trained_steps, time.perf_counter() - began)


def check_teams(n_types: int) -> None:
    """Refuse a population of which not all ways to group it can be looked at."""
    if n_types > MOST_TEAMS:
        raise UserError(
            f"a population of {n_types} teams is too large: all ways to group at most {MOST_TEAMS} are tried"
        )


def train_and_measure(
    population: Population,
    game: Playable,
    groups: Sequence[Group],
    own: Sequence[float],
    settings: Settings,
    episodes: int,
    seed: int,
    tell: Tell,
) -> list[Served]:
    """Train one response to each group, and let it play so many episodes with each team of its group."""
    what = f"{len(groups)} response{'s' * (len(groups) > 1)}"
    responses = train_responses(population, game, groups, settings, seed, partial(tell, what))
    generator = torch.Generator().manual_seed(seed)
    returns = iter(measure(population, game, groups, responses, episodes, generator).tolist())
    found = []
    for group in groups:
        earned = tuple(next(returns) for _ in group)
        shares = tuple(e / own[team] if own[team] > 0 else torch.nan for e, team in zip(earned, group, strict=True))
        found.append(Served(group, earned, shares))
    return found


def measure(
    population: Population,
    game: Playable,
    groups: Sequence[Group],
    responses: PolicyStack,
    episodes: int,
    generator: torch.Generator,
) -> Tensor:
    """Mean return ``[N]`` of every response with every team of its group, in that order."""
    seats = [(team, number) for number, group in enumerate(groups) for team in group]
    teammates, _ = both_seats(population)
    return play_pairs(
        game, teammates, StackedPolicies(responses), torch.tensor(seats), episodes, generator
    ).returns.mean(-1)


def serves(served: Sequence[Served], n_types: int) -> list[list[bool]]:
    """Whether one response serves teams i and j, ``[K][K]``."""
    linked = [[i == j for j in range(n_types)] for i in range(n_types)]
    for entry in served:
        i, j = entry.group[0], entry.group[-1]
        linked[i][j] = linked[j][i] = i == j or entry.share >= ENOUGH
    return linked
