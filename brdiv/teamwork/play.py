"""The one loop that plays complete episodes: any policies of one seat with any of the other, all in one batch."""

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from brdiv.errors import UserError
from brdiv.games import Memory, Playable, Policies, SeatView
from brdiv.rollouts import NoIds, make_env

GAMMA = 0.99
"""Discount of the paper's robustness measure."""


class Turn(NamedTuple):
    """What an observer is shown after each step of R rows, and once before the first."""

    step: int  # 0 before anyone has acted
    view: Tensor | None  # [R, 2, V] what both seats see now; None in an external environment
    reward: Tensor  # [R]
    done: Tensor  # [R] whether the episode ended with this step; rows that ended earlier play on and don't count
    memory: Sequence[Memory]  # what the policies of both seats remember


Observer = Callable[[Turn], None]


class Episodes(NamedTuple):
    """One complete episode per row, each ``[...]``."""

    returns: Tensor  # undiscounted
    discounted: Tensor
    lengths: Tensor

    def view(self, *shape: int) -> "Episodes":
        """Give them another shape."""
        return Episodes(*(value.view(*shape) for value in self))


class Tally:
    """An observer that adds up what R episodes pay until each of them ends."""

    def __init__(self, rows: int, gamma: float, device: torch.device) -> None:
        self.gamma = gamma
        self.returns = torch.zeros(rows, device=device)
        self.discounted = torch.zeros(rows, device=device)
        self.lengths = torch.zeros(rows, dtype=torch.long, device=device)
        self.running = torch.ones(rows, dtype=torch.bool, device=device)

    def __call__(self, turn: Turn) -> None:
        """Count a step of the episodes that run."""
        self.returns += turn.reward * self.running
        self.discounted += self.gamma**self.lengths * turn.reward * self.running
        self.lengths += self.running
        self.running &= ~turn.done

    def episodes(self) -> Episodes:
        """What there was."""
        return Episodes(self.returns, self.discounted, self.lengths)


class Seats:
    """Both seats of R rows through one episode of each: who sits there, and what they remember."""

    def __init__(self, teammates: Policies, learners: Policies, pairs: Tensor, generator: torch.Generator) -> None:
        self.policies = (teammates, learners)
        self.which = pairs.unbind(-1)
        self.generator = generator
        self.memory: list[Memory] = []

    def look(self, view: Tensor | None, observation: Tensor) -> list[SeatView]:
        """Say what each seat sees; at first sight, whoever sits there begins."""
        seen = [SeatView(None if view is None else view[:, seat], observation[:, seat]) for seat in range(2)]
        if not self.memory:
            self.memory = [
                policies.begin(which, own, self.generator)
                for policies, which, own in zip(self.policies, self.which, seen, strict=True)
            ]
        return seen

    def act(self, view: Tensor | None, observation: Tensor) -> Tensor:
        """Let both seats act, ``[R, 2]``, on what they see, then let each know what the other did."""
        seen = self.look(view, observation)
        turns = list(zip(self.policies, self.which, strict=True))
        actions = [
            policies.act(which, own, memory, self.generator)
            for (policies, which), own, memory in zip(turns, seen, self.memory, strict=True)
        ]
        for seat, (policies, which) in enumerate(turns):
            policies.watch(which, seen[1 - seat], actions[1 - seat], self.memory[seat])
        return torch.stack(actions, -1)


@torch.no_grad()
def play(
    game: Playable,
    teammates: Policies,
    learners: Policies,
    pairs: Tensor,
    generator: torch.Generator,
    gamma: float = GAMMA,
    watch: Sequence[Observer] = (),
) -> Episodes:
    """Play one episode of each of ``pairs [R, 2]`` (teammate, learner), all at once: Episodes ``[R]``.

    Rows that are through wait for the others. Observers are shown every turn.
    """
    rows, device = len(pairs), generator.device
    env = make_env(game, NoIds(rows), device, generator)
    seats, tally = Seats(teammates, learners, pairs, generator), Tally(rows, gamma, device)
    now = env.begin()
    view = env.view(now)
    start = Turn(0, view, torch.zeros(rows, device=device), torch.zeros_like(tally.running), seats.memory)
    for observer in watch:
        observer(start)
    # Off the CPU, asking whether all are through would stall the queue: there play goes on to the time limit.
    may_ask = device.type == "cpu" or not game.horizon
    for step in range(1, game.horizon + 1) if game.horizon else itertools.count(1):
        after, reward, _, done = env.advance(now, seats.act(view, now.observation))
        view = env.view(after)
        turn = Turn(step, view, reward, done, seats.memory)
        tally(turn)
        for observer in watch:
            observer(turn)
        if may_ask and not tally.running.any():
            break
        now = env.settle(after, done)
    env.close()
    return tally.episodes()


def play_pairs(
    game: Playable,
    teammates: Policies,
    learners: Policies,
    pairs: Tensor,
    episodes: int,
    generator: torch.Generator,
    gamma: float = GAMMA,
) -> Episodes:
    """Play so many complete episodes of each of ``pairs [P, 2]`` (teammate, learner): Episodes ``[P, episodes]``."""
    if episodes < 1:
        raise UserError(f"episodes is {episodes}: each pair must play at least one")
    parts = pairs.repeat_interleave(episodes, 0).split(game.most_rows)
    played = [play(game, teammates, learners, part, generator, gamma) for part in parts]
    return Episodes(*(torch.cat(values) for values in zip(*played, strict=True))).view(len(pairs), episodes)


def all_pairs(teammates: Policies, learners: Policies, device: torch.device | str = "cpu") -> Tensor:
    """Pair every teammate with every learner, ``[T * L, 2]``, the learner changing fastest."""
    return torch.cartesian_prod(
        torch.arange(len(teammates), device=device), torch.arange(len(learners), device=device)
    ).view(-1, 2)


def cross_play(
    game: Playable, teammates: Policies, responses: Policies, episodes: int, generator: torch.Generator
) -> Episodes:
    """Play every teammate with every best response, ``[K, K, episodes]``; each pair is measured, none mirrored."""
    pairs = all_pairs(teammates, responses, generator.device)
    played = play_pairs(game, teammates, responses, pairs, episodes, generator)
    return played.view(len(teammates), len(responses), episodes)
