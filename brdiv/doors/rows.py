"""B rows of a game with a teammate inside: whoever steps them sits in the learner's seat."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from brdiv.doors.teammates import Teammates
from brdiv.games import RESPONSE, TEAMMATE, SeatView
from brdiv.rollouts import Moment, make_env
from brdiv.rollouts.pairings import TeammateDraw
from brdiv.teamwork import Rotation


class Outcome(NamedTuple):
    """What one step of B rows led to, as the learner sees it."""

    observation: Tensor  # [B, D] before anyone starts anew
    reward: Tensor  # [B]
    terminated: Tensor  # [B]
    truncated: Tensor  # [B]
    seen: Tensor  # [B, D] what the teammates saw when they acted
    did: Tensor  # [B] and what they did


class LearnerRows:
    """B rows in which a teammate, drawn anew for each episode, acts beside the learner.

    Args:
        teammates: Who may be met.
        rows: How many rows.
        seed: Seed of starts, teammates and their actions; a random one if none is given.

    """

    now: Moment

    def __init__(self, teammates: Teammates, rows: int, seed: int | None = None) -> None:
        self.game = teammates.game
        self.names = np.array(teammates.names)
        self.generator = torch.Generator()
        self.env = make_env(self.game, TeammateDraw(len(self.names), rows), "cpu", 0)
        self.rotation = Rotation(teammates.candidates, rows, self.generator)
        self.everyone = torch.ones(rows, dtype=torch.bool)
        self.view: Tensor | None = None
        self.seed(seed)

    def seed(self, seed: int | None) -> None:
        """Start all random streams from a number."""
        first, second = np.random.SeedSequence(seed).generate_state(2)
        self.env.set_seed(int(first))
        self.generator.manual_seed(int(second))

    @torch.inference_mode()
    def begin(self) -> Tensor:
        """Start an episode in every row: the learner's ``observation [B, D]``."""
        self.arrive(self.env.begin())
        self.rotation.sit_down(self.now.ids[:, TEAMMATE], self.everyone, self.seen(TEAMMATE))
        return self.observation()

    @torch.inference_mode()
    def step(self, action: Tensor) -> Outcome:
        """Let the learner do ``action [B]``, and the teammates theirs at the same time."""
        seen = self.seen(TEAMMATE)
        other = self.rotation.act(seen)
        self.rotation.watch(self.seen(RESPONSE), action)
        after, reward, terminated, done = self.env.advance(self.now, torch.stack([other, action], -1))
        self.arrive(after)
        return Outcome(self.observation(), reward, terminated, done & ~terminated, seen.observation, other)

    @torch.inference_mode()
    def renew(self, done: Tensor) -> Tensor:
        """Start new episodes, with new teammates, in the rows that are ``done [B]``: ``observation [B, D]``."""
        self.arrive(self.env.renew(self.now, done))
        self.rotation.sit_down(self.now.ids[:, TEAMMATE], done, self.seen(TEAMMATE))
        return self.observation()

    def arrive(self, now: Moment) -> None:
        """Be there; what is seen in plain numbers is made only for teammates who look at it."""
        self.now = now
        self.view = self.env.view(now) if self.rotation.needs_view else None

    def seen(self, seat: int) -> SeatView:
        """What one seat sees."""
        return SeatView(None if self.view is None else self.view[:, seat], self.now.observation[:, seat])

    def observation(self) -> Tensor:
        """What the learner sees, ``[B, D]``, as a copy."""
        return self.now.observation[:, RESPONSE].contiguous()

    def teammates(self) -> np.ndarray:
        """Who plays each row now, by name, ``[B]``."""
        names: np.ndarray = self.names[self.now.ids[:, TEAMMATE].numpy()]
        return names

    @torch.inference_mode()
    def frame_view(self, row: int) -> list[int]:
        """Seat 0's view of one row, to be drawn."""
        view = self.env.view(self.now)
        assert view is not None, "what has no view can't be drawn"
        return view[row, TEAMMATE].tolist()

    def close(self) -> None:
        """Close the environment."""
        if not self.env.is_closed:
            self.env.close()
