"""Complete episodes of any pair of policies, all in one batch."""

from typing import NamedTuple

import torch
from torch import Tensor

from brdiv.envs import Actor, Game


class Episodes(NamedTuple):
    """One complete episode a row, each ``[...]``."""

    returns: Tensor  # undiscounted
    lengths: Tensor
    outcomes: Tensor  # `Game.outcome` of the last state; -1 where there is none


@torch.no_grad()
def play(game: Game, actor: Actor, ids: Tensor, generator: torch.Generator) -> Episodes:
    """Play one episode for every pair of ``ids [R, 2]``. Rows that are through wait for the others."""
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
    return Episodes(returns, lengths, outcomes)


def cross_play(game: Game, actor: Actor, n_types: int, episodes: int, generator: torch.Generator) -> Episodes:
    """Play every teammate with every best response, ``[K, K, episodes]``; each pair is measured, none mirrored."""
    if episodes < 1:
        raise ValueError(f"episodes is {episodes}: each pair must play at least one")
    types = torch.arange(n_types, device=generator.device)
    pairs = torch.cartesian_prod(types, types).repeat_interleave(episodes, 0)
    played = play(game, actor, pairs, generator)
    return Episodes(*(value.view(n_types, n_types, episodes) for value in played))


def strategies(played: Episodes) -> Tensor:
    """For each type, what its self-play most often ends in, ``[K]``; -1 where most episodes fail.

    ``played`` is the ``[K, K, episodes]`` of `cross_play`.
    """
    own = played.outcomes.diagonal(dim1=0, dim2=1)  # [episodes, K]
    return own.mode(0).values
