"""How far one response serves several teams: trained, then measured against what each earns with its own."""

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from brdiv.bounds.cover import MOST_TEAMS, smallest_cover
from brdiv.bounds.responses import Group, StackedPolicies, pairs_of
from brdiv.bounds.training import Fit, Settings, Task, fit_at_once, train_responses
from brdiv.errors import UserError
from brdiv.games import Playable, Policies
from brdiv.nets import Population
from brdiv.teamwork import both_seats, play_pairs

ENOUGH = 0.95
"""Share of what a team earns with its own best response from which on another one serves it."""

NEARLY = 0.85
"""Share from which on it may be training alone that falls short."""

ABLE = 0.5
"""Share of what the best team earns in self-play below which a team has not learned the game."""

Tell = Callable[[str, int, int], None]
"""Hears what is trained, how many updates of it are done, and how many there will be."""


class Served(NamedTuple):
    """How one response does with the teams that it was trained with."""

    group: Group
    returns: tuple[float, ...]  # mean return with each of them
    shares: tuple[float, ...]  # of what each earns with its own best response

    @classmethod
    def of(cls, group: Group, returns: Sequence[float], own: Sequence[float]) -> "Served":
        """Compare returns with what teams earn with their own best responses, ``own [K]``."""
        earned = [own[team] for team in group]
        shares = [r / e if e > 0 else math.nan for r, e in zip(returns, earned, strict=True)]
        return cls(group, tuple(returns), tuple(shares))

    @property
    def share(self) -> float:
        """The smallest of them; NaN if one of the teams earns nothing with its own."""
        return math.nan if any(map(math.isnan, self.shares)) else min(self.shares)


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
    def nearly(self) -> list[Group]:
        """Pairs that almost are served by one response: longer training may do it."""
        return [served.group for served in self.served if len(served.group) > 1 and NEARLY <= served.share < ENOUGH]

    @property
    def too_short(self) -> list[int]:
        """Teams whose own response, trained like the others, falls short: training can't tell anything of them."""
        return [team for team in self.able if self.served[team].share < ENOUGH]

    def matrix(self) -> Tensor:
        """Smaller share of each pair of teams, ``[K, K]``; NaN where a team has not learned the game."""
        matrix = torch.full((len(self.own), len(self.own)), torch.nan, dtype=torch.float64)
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


class Match(NamedTuple):
    """Who plays, what, how often, how much sooner is better, and how responses are trained."""

    population: Population
    game: Playable
    episodes: int
    gamma: float
    fit: Fit
    products: str

    def self_play(self, seed: int) -> list[float]:
        """Mean return of every team with its own best response."""
        themselves = torch.arange(self.population.n_types)[:, None].expand(-1, 2)
        return self.returns(both_seats(self.population)[1], themselves, seed)

    def responses(
        self, groups: Sequence[Group], own: Sequence[float], settings: Settings, seed: int, tell: Tell
    ) -> list[Served]:
        """Train one response to each group, and let it play with each team of its group."""
        what = f"{len(groups)} response{'s' * (len(groups) > 1)}"
        task = Task(self.population, self.game, groups, settings, seed)
        trained = train_responses(task, partial(tell, what), self.fit, self.products)
        seats = [(team, number) for number, group in enumerate(groups) for team in group]
        returns = iter(self.returns(StackedPolicies(trained), torch.tensor(seats), seed))
        return [Served.of(group, [next(returns) for _ in group], own) for group in groups]

    def returns(self, learners: Policies, pairs: Tensor, seed: int) -> list[float]:
        """Mean return ``[P]`` of ``pairs [P, 2]`` (teammate, learner)."""
        teammates, _ = both_seats(self.population)
        generator = torch.Generator().manual_seed(seed)
        played = play_pairs(self.game, teammates, learners, pairs, self.episodes, generator, self.gamma)
        means: list[float] = played.discounted.mean(-1).tolist()
        return means


def find_bounds(
    population: Population,
    game: Playable,
    settings: Settings,
    episodes: int = 500,
    seed: int = 0,
    tell: Tell = lambda what, done, total: None,
    gamma: float = 1.0,
    fit: Fit = fit_at_once,
    products: str = "auto",
) -> Bounds:
    """Train a response to every pair of teams, and find how many responses the population needs.

    Returns that are compared are discounted by ``gamma``; those that training maximises by the settings' own.
    """
    began = time.perf_counter()
    check_teams(population.n_types)
    match = Match(population, game, episodes, gamma, fit, products)
    own = match.self_play(seed)
    teams = able_teams(own)
    if not teams:
        raise UserError("no team earns anything with its own best response: there is nothing to compare with")
    asked = [*((team,) for team in range(population.n_types)), *pairs_of(teams)]
    served = match.responses(asked, own, settings, seed, tell)
    groups = smallest_cover(serves(served, population.n_types), teams)
    large = [tuple(group) for group in groups if len(group) > 2]
    longer = settings.for_groups_of(max(map(len, groups)))
    whole = match.responses(large, own, longer, seed + 1, tell) if large else []
    return Bounds(tuple(own), served, groups, whole, settings.trained_steps, time.perf_counter() - began)


def check_teams(n_types: int) -> None:
    """Refuse a population of which not all ways to group it can be looked at."""
    if n_types > MOST_TEAMS:
        raise UserError(
            f"a population of {n_types} teams is too large: all ways to group at most {MOST_TEAMS} are tried"
        )


def serves(served: Sequence[Served], n_types: int) -> list[list[bool]]:
    """Whether one response serves teams i and j, ``[K][K]``."""
    linked = [[i == j for j in range(n_types)] for i in range(n_types)]
    for entry in served:
        i, j = entry.group[0], entry.group[-1]
        linked[i][j] = linked[j][i] = i == j or entry.share >= ENOUGH
    return linked
