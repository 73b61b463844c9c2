"""Complete episodes of any pair of policies, all in one batch."""

from typing import NamedTuple

import torch
from torch import Tensor

from brdiv.envs import Actor, ForeignEnv, ForeignGame, Game, Task


class Episodes(NamedTuple):
    """One complete episode a row, each ``[...]``."""

    returns: Tensor  # undiscounted
    lengths: Tensor
    outcomes: Tensor  # `Game.outcome` of the last state; -1 where there is none


def play(task: Task, actor: Actor, ids: Tensor, generator: torch.Generator) -> Episodes:
    """Play one episode for every pair of ``ids [R, 2]``."""
    if isinstance(task, ForeignGame):
        return play_foreign(task, actor, ids, generator)
    assert isinstance(task, Game)
    return play_game(task, actor, ids, generator)


@torch.no_grad()
def play_game(game: Game, actor: Actor, ids: Tensor, generator: torch.Generator) -> Episodes:
    """Play a game of ours, all rows at once. Rows that are through wait for the others."""
    state = game.initial(len(ids), generator)
    returns = torch.zeros(len(ids), device=ids.device)
    lengths = torch.zeros_like(returns, dtype=torch.long)
    outcomes = torch.full_like(lengths, -1)
    running = torch.ones_like(returns, dtype=torch.bool)
    for _ in range(game.horizon):
        action = actor.act(game.observe(state), ids, generator)
        state, reward, terminated = game.step(state, action)
        returns += reward * running
        lengths += running
        outcome = game.outcome(state)
        if outcome is not None:
            outcomes = torch.where(running, outcome, outcomes)
        running &= ~terminated
        # Off the CPU, asking would stall the queue; there the rest is played for nothing.
        if running.device.type == "cpu" and not running.any():
            break
    return Episodes(returns, lengths, outcomes)


class FixedIds:
    """A pairing that is told whom to pair."""

    def __init__(self, ids: Tensor) -> None:
        self.ids = ids
        self.rows = len(ids)
        self.n_types = int(ids.max()) + 1

    def draw(self, generator: torch.Generator) -> Tensor:
        """Give the ids ``[rows, 2]``."""
        return self.ids.to(generator.device)


@torch.no_grad()
def play_foreign(
    game: ForeignGame, actor: Actor, ids: Tensor, generator: torch.Generator, copies: int = 64
) -> Episodes:
    """Play other people's environments, so many copies at a time; outcomes are not told apart."""
    parts = []
    for pairs in ids.split(copies):
        seed = int(torch.randint(2**31, (1,), generator=generator, device=generator.device))
        env = ForeignEnv(game, FixedIds(pairs), generator.device, seed)
        now = env.reset()
        running = torch.ones(len(pairs), dtype=torch.bool, device=generator.device)
        returns = torch.zeros(len(pairs), device=generator.device)
        lengths = torch.zeros_like(returns, dtype=torch.long)
        while running.any():
            now["agents", "action"] = actor.act(now["agents", "observation"], now["ids"], generator)
            stepped, now = env.step_and_maybe_reset(now)
            returns += stepped["next", "reward"].squeeze(-1) * running
            lengths += running
            running &= ~stepped["next", "done"].squeeze(-1)
        env.close()
        parts.append(Episodes(returns, lengths, torch.full_like(lengths, -1)))
    return Episodes(*(torch.cat(values) for values in zip(*parts, strict=True)))


def cross_play(game: Task, actor: Actor, n_types: int, episodes: int, generator: torch.Generator) -> Episodes:
    """Play every teammate with every best response, ``[K, K, episodes]``; each pair is measured, none mirrored."""
    if episodes < 1:
        raise ValueError(f"episodes is {episodes}: each pair must play at least one")
    types = torch.arange(n_types, device=generator.device)
    pairs = torch.cartesian_prod(types, types).repeat_interleave(episodes, 0)
    played = play(game, actor, pairs, generator)
    return Episodes(*(value.view(n_types, n_types, episodes) for value in played))


def strategies(played: Episodes) -> Tensor:
    """For each type, what its self-play most often ends in, ``[K]``; -1 where that is failing.

    ``played`` is the ``[K, K, episodes]`` of `cross_play`.
    """
    own = played.outcomes.diagonal(dim1=0, dim2=1)  # [episodes, K]
    return own.mode(0).values
