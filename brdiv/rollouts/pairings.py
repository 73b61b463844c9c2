"""Who plays whom: the ids of an episode's teammate pi^i and best response pi^-j."""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from brdiv.errors import LARGEST_NUMBER, LEAST_NUMBER, UserError

TAKEOVER = 0.3
"""Probability per window that an episode of mixed play becomes self-play."""

MOST_TYPES = 1024  # of which every pair is to be measured


class IdDraw(Protocol):
    """Draws the ids of new episodes."""

    n_types: int
    rows: int
    mixed_play_rows: int = 0

    def draw(self, generator: torch.Generator, times: int = 1) -> Tensor:
        """Draw ``ids [times, rows, 2]``."""
        ...

    def take_over(self, ids: Tensor, clock: Tensor, generator: torch.Generator) -> Tensor:
        """Change who plays, ``ids [rows, 2]``, in episodes that are ``clock [rows]`` steps old; by default nobody."""
        return ids


class Pairing(IdDraw):
    """Ids for a batch of rows: the first play themselves (i, i), the others a stranger (i, j), i != j.

    Each row keeps its kind for good, which fixes the share of self-play (SP) and cross-play (XP) experience in every
    batch; its ids are drawn anew for every episode. Rows of mixed play, the last ones, begin as cross-play; before
    every window, with probability ``takeover``, the own partner of one of the two takes over, and the rest of the
    episode is self-play. Whoever refuses to play with strangers then refuses its own partner, too.
    """

    def __init__(
        self,
        n_types: int,
        self_play_rows: int,
        cross_play_rows: int = 0,
        mixed_play_rows: int = 0,
        takeover: float = TAKEOVER,
    ) -> None:
        if not 0 <= takeover <= 1:
            raise UserError(f"takeover is {takeover}: it must lie between 0 and 1")
        if mixed_play_rows < 0:
            raise UserError(f"mixed_play_rows is {mixed_play_rows}: it may not be negative")
        if n_types < 2:
            raise UserError(f"n_types is {n_types}: a diverse population needs at least 2 teammates")
        if n_types > MOST_TYPES:
            raise UserError(f"n_types is {n_types}: a population has at most {MOST_TYPES:,} teammates")
        if self_play_rows < 0 or cross_play_rows < 0 or self_play_rows + cross_play_rows < 1:
            raise UserError(
                f"self_play_rows is {self_play_rows} and cross_play_rows {cross_play_rows}: "
                "neither may be negative, and together they must be at least 1"
            )
        self.n_types = n_types
        self.self_play_rows = self_play_rows
        self.cross_play_rows = cross_play_rows
        self.mixed_play_rows = mixed_play_rows
        self.takeover = takeover
        self.rows = self_play_rows + cross_play_rows + mixed_play_rows

    def draw(self, generator: torch.Generator, times: int = 1) -> Tensor:
        """Draw ``ids [times, rows, 2]``, uniform over the K self-play or the K(K - 1) cross-play pairs."""
        shape, device = (times, self.rows), generator.device
        i = torch.randint(self.n_types, shape, generator=generator, device=device)
        distance = torch.randint(1, self.n_types, shape, generator=generator, device=device)
        distance[:, : self.self_play_rows] = 0
        return torch.stack([i, (i + distance) % self.n_types], -1)

    def take_over(self, ids: Tensor, clock: Tensor, generator: torch.Generator) -> Tensor:
        """Let the partner of one of the two, by a fair coin, take over in some episodes of mixed play."""
        if not self.mixed_play_rows:
            return ids
        first = self.rows - self.mixed_play_rows
        chance, coin = torch.rand(2, self.mixed_play_rows, generator=generator, device=generator.device)
        over = (chance < self.takeover) & (clock[first:] > 0)
        i, j = ids[first:].unbind(-1)
        stays = torch.where(coin < 0.5, i, j)
        mixed = torch.where(over[:, None], stays[:, None], ids[first:])
        return torch.cat([ids[:first], mixed])


def is_mixed(pairing: IdDraw, device: torch.device) -> Tensor:
    """Whether each row ``[rows]`` is one of mixed play."""
    return torch.arange(pairing.rows, device=device) >= pairing.rows - pairing.mixed_play_rows


class NoIds(IdDraw):
    """For rows whose players are chosen elsewhere: every id is 0, and nothing is drawn."""

    n_types = 1

    def __init__(self, rows: int) -> None:
        if rows < 1:
            raise UserError(f"rows is {rows}: at least one is needed")
        self.rows = rows

    def draw(self, generator: torch.Generator, times: int = 1) -> Tensor:
        """Return ``ids [times, rows, 2]``."""
        return torch.zeros(times, self.rows, 2, dtype=torch.long, device=generator.device)


class TeammateDraw(IdDraw):
    """Draws who plays the next episode beside a learner: the first id is the teammate's, the second 0.

    Args:
        n_teammates: How many there are.
        rows: How many rows.
        weights: How often each is drawn, as a share of their sum; all alike if none are given.

    """

    def __init__(self, n_teammates: int, rows: int, weights: Sequence[float] | None = None) -> None:
        if rows < 1:
            raise UserError(f"rows is {rows}: at least one is needed")
        self.n_types = n_teammates
        self.rows = rows
        self.weights = None if weights is None else torch.tensor(check_weights(weights, n_teammates))

    def draw(self, generator: torch.Generator, times: int = 1) -> Tensor:
        """Draw ``ids [times, rows, 2]``."""
        shape, device = (times, self.rows), generator.device
        if self.weights is None:
            teammate = torch.randint(self.n_types, shape, generator=generator, device=device)
        else:
            self.weights = self.weights.to(device)
            drawn = self.weights.multinomial(times * self.rows, replacement=True, generator=generator)
            teammate = drawn.view(shape)
        return torch.stack([teammate, torch.zeros_like(teammate)], -1)


def check_weights(weights: Sequence[float], n_teammates: int) -> list[float]:
    """Refuse weights that are not one for each teammate, or can't be shares of a whole."""
    if len(weights) != n_teammates:
        raise UserError(f"weights are {len(weights)}, and there are {n_teammates} teammates: give one for each")
    in_range = all(weight == 0 or LEAST_NUMBER <= weight <= LARGEST_NUMBER for weight in weights)
    if not in_range or not any(weights):
        raise UserError(
            f"weights are {list(weights)}: none may be negative, and some must be positive, from {LEAST_NUMBER:g} to "
            f"{LARGEST_NUMBER:g}"
        )
    return [float(weight) for weight in weights]
