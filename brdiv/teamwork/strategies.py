"""By which strategies teams win in self-play."""

from collections.abc import Sequence
from typing import NamedTuple

import torch

from brdiv.games import Playable, Policies, Strategies
from brdiv.teamwork.play import Turn, play


class TeamStrategy(NamedTuple):
    """What a team mostly does."""

    name: str
    share: float  # of the episodes that it won


class StrategyObserver:
    """An observer that shows the game every view of the episodes that are still running."""

    def __init__(self, strategies: Strategies) -> None:
        self.strategies = strategies
        self.running: torch.Tensor | None = None

    def __call__(self, turn: Turn) -> None:
        """Show one turn."""
        assert turn.view is not None
        if self.running is None:
            self.running = torch.ones_like(turn.done)
        self.strategies.watch(turn.view, self.running)
        self.running = self.running & ~turn.done


def team_strategies(
    game: Playable, teammates: Policies, responses: Policies, episodes: int, generator: torch.Generator
) -> list[TeamStrategy | None] | None:
    """Let every teammate play so many episodes with its own best response, and tell what the team mostly does.

    None for a team that wins less than half of them; None at all for a game that does not tell strategies apart.
    """
    example = game.strategies()
    if example is None:
        return None
    own = torch.arange(len(teammates), device=generator.device).repeat_interleave(episodes)[:, None].expand(-1, 2)
    parts = []
    for pairs in own.split(game.most_rows):
        strategies = game.strategies()
        assert strategies is not None
        play(game, teammates, responses, pairs, generator, watch=[StrategyObserver(strategies)])
        parts.append(strategies.found())
    return [mostly(found, example.names) for found in torch.cat(parts).view(len(teammates), episodes)]


def mostly(found: torch.Tensor, names: Sequence[str]) -> TeamStrategy | None:
    """What a team does in most of the episodes ``found [E]`` that it wins, if it wins at least half of them."""
    counts = torch.bincount(found + 1, minlength=len(names) + 1)[1:]
    most, won = int(counts.argmax()), int(counts.sum())
    return TeamStrategy(names[most], int(counts[most]) / won) if 2 * won >= len(found) else None
