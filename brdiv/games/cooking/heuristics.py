"""The twelve heuristics of Simple Cooking (Appendix B.3)."""

from typing import NamedTuple

import torch
from torch import Tensor

from brdiv.games.cooking.rules import (
    ANTICLOCKWISE,
    BLENDED_CARROT,
    BLENDER,
    CARROT,
    CELLS,
    CHOPPED_TOMATO,
    CLOCKWISE,
    ITEMS,
    KNIFE,
    PLATE,
    PUT_ON_COUNTER,
    PUT_ON_TABLE,
    SERVING,
    STAY,
    TABLE,
    TAKE_FROM_COUNTER,
    TAKE_FROM_TABLE,
    TOMATO,
    USE,
    Cooking,
)
from brdiv.games.policies import Policies, SeatView

WITH_THE_CLOCK, AGAINST_IT, SHORTEST = range(3)
PROCESS, CARRY, SERVE = range(3)
"""What to do: chop and blend; bring what was processed to the plate; or straight to the serving counter."""


class Chef(NamedTuple):
    """A job, a way around the ring, and habits."""

    job: int
    way: int
    furthest: bool = False  # goes for the furthest food, not the nearest
    slips: float = 0.0  # share of steps in which it does anything at all


HEURISTICS = {
    "H1": Chef(PROCESS, WITH_THE_CLOCK),
    "H2": Chef(PROCESS, AGAINST_IT),
    "H3": Chef(PROCESS, SHORTEST),
    "H4": Chef(PROCESS, WITH_THE_CLOCK, furthest=True),
    "H5": Chef(PROCESS, AGAINST_IT, furthest=True),
    "H6": Chef(PROCESS, SHORTEST, slips=0.25),
    "H7": Chef(CARRY, WITH_THE_CLOCK),
    "H8": Chef(CARRY, AGAINST_IT),
    "H9": Chef(CARRY, SHORTEST),
    "H10": Chef(SERVE, WITH_THE_CLOCK),
    "H11": Chef(SERVE, AGAINST_IT),
    "H12": Chef(SERVE, SHORTEST),
}

NONE = -1
RAW = (TOMATO, CARROT)
PROCESSED = (CHOPPED_TOMATO, BLENDED_CARROT)


class CookingHeuristics(Policies):
    """All twelve, as a table that rows look their rule up in."""

    def __init__(self, game: Cooking) -> None:
        self.names = list(HEURISTICS)
        chefs = list(HEURISTICS.values())
        self.job, self.way, self.furthest, self.slips = (
            torch.tensor([getattr(chef, name) for chef in chefs]) for name in Chef._fields
        )
        wanted = torch.zeros(3, ITEMS, dtype=torch.bool)
        wanted[PROCESS, RAW] = wanted[CARRY, PROCESSED] = wanted[SERVE, PROCESSED] = True
        self.wanted = wanted[self.job]  # [H, 5]
        self.move_to(game.tools.device)

    def begin(self, which: Tensor, seen: SeatView, generator: torch.Generator) -> dict[str, Tensor]:
        """Have no target yet."""
        return {"target": torch.full_like(which, NONE)}

    def act(self, which: Tensor, seen: SeatView, memory: dict[str, Tensor], generator: torch.Generator) -> Tensor:
        """Use the tool, else carry what is held to where it goes, else fetch something, else rest.

        What is held and is none of its business, a plate say, doesn't keep a chef from fetching.
        """
        view = seen.view
        assert view is not None
        cell, hand, places = view[:, 0], view[:, 1 : 1 + ITEMS] > 0, view[:, 12 : 12 + ITEMS]
        ways = self.way[which]

        goal = self.destination(which, hand, places)
        fetched = self.fetch(which, cell, goal != NONE, places, memory, generator)
        place = places.gather(1, fetched.clamp(min=0)[:, None]).squeeze(1)
        fetching = go(cell, place, ways).where(cell != place, TAKE_FROM_COUNTER)
        fetching = torch.where(place == TABLE, TAKE_FROM_TABLE, fetching)
        carrying = go(cell, goal, ways).where(cell != goal, PUT_ON_COUNTER)
        carrying = torch.where(goal == TABLE, PUT_ON_TABLE, carrying)
        action = torch.where(fetched != NONE, fetching, rest(cell, ways, generator))
        action = torch.where(goal != NONE, carrying, action)

        tomato, carrot = places[:, TOMATO], places[:, CARROT]
        ready = ((cell == KNIFE) & (tomato == KNIFE)) | ((cell == BLENDER) & (carrot == BLENDER))
        action = torch.where(ready & (self.job[which] == PROCESS), USE, action)

        slip = torch.rand(which.shape, generator=generator, device=which.device) < self.slips[which]
        anything = torch.randint(8, which.shape, generator=generator, device=which.device)
        return torch.where(slip, anything, action)

    def fetch(
        self,
        which: Tensor,
        cell: Tensor,
        busy: Tensor,
        places: Tensor,
        memory: dict[str, Tensor],
        generator: torch.Generator,
    ) -> Tensor:
        """Choose which item ``[R]`` to go for, or none, ties at random; the furthest is kept until it is picked up."""
        plate = places[:, PLATE, None]
        delivered = (places == SERVING) | ((places == plate) & (plate >= 0))
        available = self.wanted[which] & (places >= 0) & ~((self.job[which] != PROCESS)[:, None] & delivered)
        cost = distance(cell[:, None], places, self.way[which, None]) * (1 - 2 * self.furthest[which].int()[:, None])
        luck = 0.1 * torch.rand(cost.shape, generator=generator, device=cost.device)
        chosen = (cost + luck).masked_fill(~available, torch.inf).argmin(-1)
        kept = memory["target"]
        keep = (kept != NONE) & available.gather(1, kept.clamp(min=0)[:, None]).squeeze(1) & self.furthest[which]
        chosen = torch.where(keep, kept, chosen)
        chosen = torch.where(available.any(-1) & ~busy, chosen, NONE)
        memory["target"] = chosen
        return chosen

    def destination(self, which: Tensor, hand: Tensor, places: Tensor) -> Tensor:
        """Where ``[R]`` to bring what is held, or nowhere."""
        tool = torch.where(hand[:, TOMATO], KNIFE, torch.where(hand[:, CARROT], BLENDER, NONE))
        plate = places[:, PLATE]
        at_plate = torch.where(plate >= 0, plate, SERVING)
        food = hand[:, CHOPPED_TOMATO] | hand[:, BLENDED_CARROT]
        job = self.job[which]
        brought = torch.where(job == CARRY, at_plate, SERVING).where(food, NONE)
        return torch.where(job == PROCESS, tool, brought)


def distance(cell: Tensor, place: Tensor, way: Tensor) -> Tensor:
    """Steps from ``cell`` to ``place`` by a way around the ring; the table is at hand. Shapes broadcast.

    Of two equally short ways the one with the clock counts as a little shorter.
    """
    clockwise, against = (place - cell) % CELLS, (cell - place) % CELLS
    steps = torch.where(way == WITH_THE_CLOCK, clockwise, against).float()
    steps = torch.where(way == SHORTEST, torch.minimum(clockwise.float(), against + 0.2), steps)
    return steps.where(place != TABLE, 0.0)


def go(cell: Tensor, place: Tensor, way: Tensor) -> Tensor:
    """Step ``[R]`` from ``cell`` towards ``place`` by a way around the ring; where both are as long, with the clock."""
    shorter = (place - cell) % CELLS <= (cell - place) % CELLS
    return torch.where((way == WITH_THE_CLOCK) | ((way == SHORTEST) & shorter), CLOCKWISE, ANTICLOCKWISE)


def rest(cell: Tensor, way: Tensor, generator: torch.Generator) -> Tensor:
    """Stay ``[R]``, unless in front of a tool or the serving counter: then step on, anywhere if no way is fixed."""
    coin = torch.rand(cell.shape, generator=generator, device=cell.device) < 0.5
    on = torch.where((way == WITH_THE_CLOCK) | ((way == SHORTEST) & coin), CLOCKWISE, ANTICLOCKWISE)
    in_the_way = (cell == BLENDER) | (cell == KNIFE) | (cell == SERVING)
    return torch.where(in_the_way, on, STAY)
