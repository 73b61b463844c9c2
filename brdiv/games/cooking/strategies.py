"""The strategies of Simple Cooking: who chops, blends, assembles and serves, and where the dish comes together."""

import itertools

import torch
from torch import Tensor

from brdiv.games.cooking.rules import BLENDED_CARROT, BLENDER, CHOPPED_TOMATO, ITEMS, KNIFE, PLATE, SERVING, TABLE
from brdiv.games.strategies import Strategies

CHEFS = ("teammate", "response")
PLACES = ("in hand", "on a counter", "on the table")
CHOPS, BLENDS, ASSEMBLES, PLACE, SERVES = range(5)
"""What is noted of an episode, by the columns of a table."""


class Roles(Strategies):
    """Tells who did which part of the dish: 2 chefs for each of four parts, and 3 places where it comes together."""

    def __init__(self) -> None:
        self.names = [
            f"{CHEFS[chops]} chops, {CHEFS[blends]} blends, {CHEFS[assembles]} assembles {PLACES[place]}, "
            f"{CHEFS[serves]} serves"
            for chops, blends, assembles, place, serves in itertools.product(*map(range, (2, 2, 2, 3, 2)))
        ]
        self.before: Kitchen | None = None

    def watch(self, view: Tensor, running: Tensor) -> None:
        """Note who did what, the first time that it is done."""
        now = Kitchen(view)
        if self.before is None:
            self.noted = torch.full((len(view), 5), -1, device=view.device)
        else:
            for column, (happened, what) in enumerate(self.events(self.before, now)):
                first = happened & running & (self.noted[:, column] < 0)
                self.noted[:, column] = torch.where(first, what, self.noted[:, column])
        self.before = now

    def events(self, before: "Kitchen", now: "Kitchen") -> list[tuple[Tensor, Tensor]]:
        """Whether each part was done ``[R]``, and by whom or where ``[R]``, in the order of the columns."""
        chopped = now.exists[:, CHOPPED_TOMATO] & ~before.exists[:, CHOPPED_TOMATO]
        blended = now.exists[:, BLENDED_CARROT] & ~before.exists[:, BLENDED_CARROT]
        assembled = now.together & ~before.together
        served = now.together & (now.places[:, PLATE] == SERVING)
        plate = now.places[:, PLATE]
        # Both hands may have changed at once: seat 0 acts first, so what comes together last is seat 1's doing. Where
        # neither has, a tool did it, on the counter where the plate lies and whoever used the tool stands.
        changed = (before.hands != now.hands).any(-1)  # [R, 2]
        by_tool = ~changed.any(-1) & (before.cells[:, 1] == plate)
        assembler = (changed[:, 1] | by_tool).long()
        place = torch.where(plate == TABLE, 2, (plate >= 0).long())
        return [
            (chopped, before.chef_at(KNIFE)),
            (blended, before.chef_at(BLENDER)),
            (assembled, assembler),
            (assembled, place),
            (served, before.chef_at(SERVING)),
        ]

    def found(self) -> Tensor:
        """Number of the way it was done, -1 where the dish was not served."""
        chops, blends, assembles, place, serves = self.noted.unbind(-1)
        number = (((chops * 2 + blends) * 2 + assembles) * 3 + place) * 2 + serves
        return number.where((self.noted >= 0).all(-1), -1)


class Kitchen:
    """What a view ``[R, 2, 20]`` says, by name."""

    def __init__(self, view: Tensor) -> None:
        seat = view[:, 0]
        self.cells = torch.stack([seat[:, 0], seat[:, 6]], -1)  # [R, 2]
        self.hands = torch.stack([seat[:, 1 : 1 + ITEMS], seat[:, 7 : 7 + ITEMS]], 1) > 0  # [R, 2, 5]
        self.places = seat[:, 12 : 12 + ITEMS]  # [R, 5]
        self.exists = (self.places >= 0) | self.hands.any(1)
        _, chopped, _, blended, plate = self.places.unbind(-1)
        on_one_place = (chopped == plate) & (blended == plate) & (plate >= 0)
        _, chopped, _, blended, plate = self.hands.unbind(-1)
        in_one_hand = (chopped & blended & plate).any(-1)
        self.together = on_one_place | in_one_hand

    def chef_at(self, cell: int) -> Tensor:
        """Who stands on a cell, ``[R]``: 0 or 1; 0 where nobody does."""
        return (self.cells[:, 1] == cell).long()
