"""Complete episodes of any pair of policies, all in one batch."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from brdiv.envs import Actor, ForeignEnv, ForeignGame, Game, Task

GAMMA = 0.99
"""Discount of the paper's robustness measure."""

Act = Callable[[Tensor | None, Tensor], Tensor]
"""Maps ``view [R, 2, V]`` (None for other people's environments) and ``observation [R, 2, D]`` to ``action [R, 2]``."""


class Episodes(NamedTuple):
    """One complete episode a row, each ``[...]``."""

    returns: Tensor  # undiscounted
    discounted: Tensor
    lengths: Tensor
    outcomes: Tensor  # `Game.outcome` of the last state; -1 where there is none


class Tally:
    """Adds up what R episodes pay until each of them ends."""

    def __init__(self, rows: int, gamma: float, device: torch.device) -> None:
        self.gamma = gamma
        self.returns = torch.zeros(rows, device=device)
        self.discounted = torch.zeros(rows, device=device)
        self.lengths = torch.zeros(rows, dtype=torch.long, device=device)
        self.outcomes = torch.full((rows,), -1, device=device)
        self.running = torch.ones(rows, dtype=torch.bool, device=device)

    def add(self, reward: Tensor, done: Tensor, outcome: Tensor | None = None) -> None:
        """Count a step ``[R]`` of the episodes that run."""
        self.returns += reward * self.running
        self.discounted += self.gamma**self.lengths * reward * self.running
        self.lengths += self.running
        if outcome is not None:
            self.outcomes = torch.where(self.running, outcome, self.outcomes)
        self.running &= ~done

    def over(self) -> bool:
        """Whether all have ended. Off the CPU, asking would stall the queue: there the rest is played for nothing."""
        return self.running.device.type == "cpu" and not self.running.any()

    def episodes(self) -> Episodes:
        """What there was."""
        return Episodes(self.returns, self.discounted, self.lengths, self.outcomes)


def play(task: Task, act: Act, rows: int, generator: torch.Generator, gamma: float = GAMMA) -> Episodes:
    """Play one episode in each of so many rows. ``act`` is asked for all rows at every step, from the first on."""
    if isinstance(task, ForeignGame):
        return play_foreign(task, act, rows, generator, gamma)
    assert isinstance(task, Game)
    return play_game(task, act, rows, generator, gamma)


@torch.no_grad()
def play_game(game: Game, act: Act, rows: int, generator: torch.Generator, gamma: float) -> Episodes:
    """Play a game of ours, all rows at once. Rows that are through wait for the others."""
    state = game.initial(rows, generator)
    tally = Tally(rows, gamma, generator.device)
    for _ in range(game.horizon):
        view = game.view(state)
        state, reward, terminated = game.step(state, act(view, game.encode(view)))
        tally.add(reward, terminated, game.outcome(state))
        if tally.over():
            break
    return tally.episodes()


class FixedIds:
    """A pairing that is told whom to pair."""

    def __init__(self, ids: Tensor) -> None:
        self.ids = ids
        self.rows = len(ids)
        self.n_types = int(ids.max()) + 1

    def draw(self, generator: torch.Generator, times: int = 1) -> Tensor:
        """Give the ids ``[times, rows, 2]``."""
        return self.ids.to(generator.device).expand(times, -1, -1)


@torch.no_grad()
def play_foreign(game: ForeignGame, act: Act, rows: int, generator: torch.Generator, gamma: float) -> Episodes:
    """Play other people's environments, one copy a row; outcomes are not told apart."""
    seed = int(torch.randint(2**31, (1,), generator=generator, device=generator.device))
    ids = torch.zeros(rows, 2, dtype=torch.long)
    env = ForeignEnv(game, FixedIds(ids), generator.device, seed)
    now = env.reset()
    tally = Tally(rows, gamma, generator.device)
    while tally.running.any():
        now["agents", "action"] = act(None, now["agents", "observation"])
        stepped, now = env.step_and_maybe_reset(now)
        tally.add(stepped["next", "reward"].squeeze(-1), stepped["next", "done"].squeeze(-1))
    env.close()
    return tally.episodes()


def in_parts(rows: int, task: Task) -> list[slice]:
    """Cut rows into parts that fit: copies of other people's environments cost a lot each, rows of ours very little."""
    most = 64 if isinstance(task, ForeignGame) else 16_384
    return [slice(first, min(first + most, rows)) for first in range(0, rows, most)]


def join(parts: list[Episodes]) -> Episodes:
    """Put parts together again."""
    return Episodes(*(torch.cat(values) for values in zip(*parts, strict=True)))


def cross_play(game: Task, actor: Actor, n_types: int, episodes: int, generator: torch.Generator) -> Episodes:
    """Play every teammate with every best response, ``[K, K, episodes]``; each pair is measured, none mirrored."""
    if episodes < 1:
        raise ValueError(f"episodes is {episodes}: each pair must play at least one")
    types = torch.arange(n_types, device=generator.device)
    pairs = torch.cartesian_prod(types, types).repeat_interleave(episodes, 0)
    parts = []
    for part in in_parts(len(pairs), game):
        ids = pairs[part]
        parts.append(play(game, lambda _, seen, ids=ids: actor.act(seen, ids, generator), len(ids), generator))  # type: ignore[misc]
    played = join(parts)
    return Episodes(*(value.view(n_types, n_types, episodes) for value in played))


def strategies(played: Episodes) -> Tensor:
    """For each type, what its self-play most often ends in, ``[K]``; -1 where that is failing.

    ``played`` is the ``[K, K, episodes]`` of `cross_play`.
    """
    own = played.outcomes.diagonal(dim1=0, dim2=1)  # [episodes, K]
    return own.mode(0).values
