"""One episode: the rules, whoever sits in the seats, and everything that happened."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from brdiv.evaluation.agents import Agent
from brdiv.games import TEAMMATE, Game, Memory, Policies, SeatView
from brdiv.nets import Population
from brdiv.runs.episodes import PlayedEpisode
from brdiv.serve.likely import likely_actions
from brdiv.teamwork import Plastic
from brdiv.teamwork.play import Seats

PERSON = "person"


class Person(Policies):
    """Does what somebody at the page has chosen."""

    names = (PERSON,)

    def __init__(self) -> None:
        self.choice = 0

    def act(self, which: Tensor, seen: SeatView, memory: Memory, generator: torch.Generator) -> Tensor:
        """Do it."""
        return torch.full_like(which, self.choice)


class Moment(NamedTuple):
    """What there is to know after a step, or before the first."""

    views: list[list[int]]  # [2, V]
    actions: list[int] | None
    reward: float
    total: float
    news: str
    belief: list[float] | None  # what PLASTIC thinks of who sits in the teammate's seat
    likely: list[list[float] | None] | None  # what each seat will do next; None for people


class Match:
    """An episode of people or agents, who are called by name; ``None`` is a person."""

    def __init__(
        self,
        game: Game,
        names: Sequence[str],
        agents: Sequence[Agent | None],
        seed: int,
        believer: Population | None = None,
    ) -> None:
        self.game = game
        self.names = list(names)
        self.people = [agent is None for agent in agents]
        self.person = Person()
        first, second = (agent.policies if agent else self.person for agent in agents)
        numbers = torch.tensor([[agent.number if agent else 0 for agent in agents]])
        self.generator = torch.Generator().manual_seed(seed)
        self.state = game.initial(1, self.generator)
        self.seats = Seats(first, second, numbers, self.generator)
        self.plastic = Plastic(believer) if believer else None
        self.belief: Memory = None
        self.tells = False
        self.won = False
        self.moments: list[Moment] = []
        self.look()
        self.note(None, 0.0)

    @property
    def step(self) -> int:
        """How many steps were played."""
        return len(self.moments) - 1

    @property
    def over(self) -> bool:
        """Whether the game is won or the time is up."""
        return self.won or self.step >= self.game.horizon

    @property
    def waits_for_person(self) -> bool:
        """Whether somebody at the page has to act."""
        return any(self.people) and not self.over

    def look(self) -> None:
        """Let both seats see the state as it is now."""
        self.view = self.game.view(self.state)
        self.observation = self.game.encode(self.view)
        self.seen = self.seats.look(self.view, self.observation)
        if self.plastic and self.belief is None:
            self.belief = self.plastic.begin(torch.zeros(1, dtype=torch.long), self.seen[1], self.generator)

    @torch.no_grad()
    def advance(self, choice: int = 0) -> None:
        """Play one step; a person does what was chosen."""
        self.person.choice = choice
        action = self.seats.act(self.view, self.observation)
        if self.plastic:
            seen = self.seen[TEAMMATE]
            self.plastic.watch(torch.zeros(1, dtype=torch.long), seen, action[:, TEAMMATE], self.belief)
        self.state, reward, won = self.game.step(self.state, action)
        self.won = bool(won)
        self.look()
        self.note(action[0].tolist(), float(reward))

    def note(self, actions: list[int] | None, reward: float) -> None:
        """Keep what there is to know now."""
        views = self.view[0].tolist()
        before = self.moments[-1] if self.moments else None
        news = self.game.news(before.views[0], views[0], actions, reward) if before and actions else ""
        belief = [round(value, 4) for value in self.belief["belief"][0].tolist()] if self.plastic else None
        total = reward + (before.total if before else 0.0)
        self.moments.append(Moment(views, actions, reward, total, news, belief, None))
        self.tell()

    def tell(self) -> None:
        """Add what agents are likely to do next to the last moment, where that is wanted."""
        if not self.tells or self.over or self.moments[-1].likely:
            return
        likely = [
            None if self.people[seat] else likely_actions(self.seats, seat, self.seen[seat], self.game.n_actions)
            for seat in range(2)
        ]
        self.moments[-1] = self.moments[-1]._replace(likely=likely)

    def shown(self, first: int = 0) -> dict[str, Any]:
        """Say what happened from a moment on, for the page."""
        moments = [
            {**moment._asdict(), "step": first + number, "views": None, "scene": self.game.scene(moment.views[0])}
            for number, moment in enumerate(self.moments[first:])
        ]
        end = "won" if self.won else "time is up" if self.over else ""
        return {"first": first, "moments": moments, "step": self.step, "end": end}

    def played(self) -> PlayedEpisode:
        """Return the episode as it is kept in a file."""
        return PlayedEpisode(
            self.game,
            self.names,
            [moment.views for moment in self.moments],
            [moment.actions for moment in self.moments if moment.actions],
            [moment.reward for moment in self.moments[1:]],
            self.won,
        )
