"""The rules of Simple Cooking."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from tensordict import TensorDict
from torch import Tensor
from torch.nn import functional

from brdiv.games.base import Game
from brdiv.games.limits import check_horizon

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from brdiv.games.policies import Policies
    from brdiv.games.scenes import Guide, Shape
    from brdiv.games.strategies import Strategies

CELLS = 10
TABLE = 10
HANDS = 11  # an item in seat s's hand is at location 11 + s
NOWHERE = -1
UNTOUCHED = -2  # where no item ever is

TOMATO, CHOPPED_TOMATO, CARROT, BLENDED_CARROT, PLATE = range(5)
ITEMS = 5
ITEM_NAMES = ("tomato", "chopped tomato", "carrot", "blended carrot", "plate")
BLENDER, KNIFE, SERVING = 0, 5, 8

STAY, ANTICLOCKWISE, CLOCKWISE, PUT_ON_COUNTER, PUT_ON_TABLE, TAKE_FROM_TABLE, TAKE_FROM_COUNTER, USE = range(8)
REWARD = 0.25


class Cooking(Game):
    """Simple Cooking (Section 6.1): serve chopped tomato and blended carrot on a plate.

    Cell p of a ring of ten faces counter p; everyone reaches the table in the middle.

    - State: ``cells [B, 2]``, ``items [B, 5]`` (tomato, chopped tomato, carrot, blended carrot, plate), each the
      location of an item: a counter 0..9, 10 the table, 11 or 12 seat 0's or 1's hand, -1 where it doesn't exist (raw
      food turned into processed); ``assembled [B]``, whether the dish was put together.
    - Actions: 0 stay, 1 anticlockwise, 2 clockwise, 3 put on counter, 4 put on table, 5 take from table, 6 take from
      counter, 7 use tool. What can't be done on the state at the start of the step is not done; then seat 0 acts, and
      seat 1 on what seat 0 left.
    - Reward: 0.25 each for chopping, blending, assembling (once), and the dish on the serving counter, which ends the
      task.
    - View ``[20]``: own cell, own hand as five +1/-1, the other's cell and hand, location of the five items (-1 held or
      not existing), locations of blender, knife and serving counter. Networks see cells and locations one-hot; the last
      three never change and are left out.

    Args:
        horizon: Steps until time is up.

    """

    n_actions = 8
    recordable = True
    response_steps = 600_000
    view_size = 20
    observation_bounds = (-1.0, 1.0)
    observation_size = 2 * (CELLS + ITEMS) + ITEMS * (TABLE + 1)
    first_items: Tensor
    tools: Tensor
    seats: Tensor
    second: Tensor
    steps: Tensor
    made_at: Tensor
    sources: Tensor
    targets: Tensor
    cell_rows: Tensor
    place_rows: Tensor

    def __init__(self, horizon: int = 250) -> None:
        super().__init__()
        check_horizon(horizon)
        self.horizon = horizon
        first_items = torch.tensor([1, NOWHERE, 6, NOWHERE, TABLE])
        self.register_buffer("first_items", first_items, persistent=False)
        self.register_buffer("tools", torch.tensor([BLENDER, KNIFE, SERVING]), persistent=False)
        self.register_buffer("seats", torch.arange(2), persistent=False)
        self.register_buffer("second", torch.tensor([False, True]), persistent=False)
        steps = torch.zeros(self.n_actions, dtype=torch.long)
        steps[ANTICLOCKWISE], steps[CLOCKWISE] = -1, 1
        self.register_buffer("steps", steps, persistent=False)
        self.register_buffer(
            "made_at", torch.tensor([UNTOUCHED, KNIFE, UNTOUCHED, BLENDER, UNTOUCHED]), persistent=False
        )
        sources, targets = item_moves()
        self.register_buffer("sources", sources, persistent=False)
        self.register_buffer("targets", targets, persistent=False)
        # One-hot rows to look up, which takes less time than one_hot. An item that is nowhere has none set.
        self.register_buffer("cell_rows", torch.eye(CELLS), persistent=False)
        self.register_buffer("place_rows", torch.eye(TABLE + 2)[:, 1:].contiguous(), persistent=False)

    def initial(self, rows: int, generator: torch.Generator) -> TensorDict:
        """Put the chefs on two different cells, everything else in its place."""
        device = generator.device
        first = torch.randint(CELLS, (rows,), generator=generator, device=device)
        away = torch.randint(1, CELLS, (rows,), generator=generator, device=device)
        cells = torch.stack([first, (first + away) % CELLS], -1)
        assembled = torch.zeros(rows, dtype=torch.bool, device=device)
        return self.pack(cells, self.first_items.repeat(rows, 1), assembled)

    def step(self, state: TensorDict, action: Tensor) -> tuple[TensorDict, Tensor, Tensor]:
        """Judge both actions on the state as it is, then carry out seat 0's and seat 1's in turn."""
        cells, before = state["cells"], state["items"]
        items = self.handle(cells, before, action)
        gone = (items == NOWHERE) & (before != NOWHERE)  # raw food that was just chopped or blended
        items = torch.where(gone.roll(1, 1), self.made_at, items)  # what it turned into stands one column on
        _, chopped, _, blended, plate = items.unbind(1)
        together = (chopped == plate) & (blended == plate)
        served = together & (plate == SERVING)
        newly = together & ~state["assembled"]
        reward = REWARD * (gone.sum(1) + newly + served)
        return self.pack(self.walk(cells, action), items, state["assembled"] | together), reward, served

    def walk(self, cells: Tensor, action: Tensor) -> Tensor:
        """Move both chefs ``cells [B, 2]``, not to where the other stands; a free cell both enter goes to seat 0."""
        target = (cells + self.steps[action]) % CELLS
        target = torch.where(target == cells.flip(1), cells, target)
        clash = target[:, :1] == target[:, 1:]
        return torch.where(clash & self.second, cells, target)

    def handle(self, cells: Tensor, items: Tensor, action: Tensor) -> Tensor:
        """Let both chefs put, take and use tools in turn: ``items [B, 5]`` afterwards, raw food that was used up gone.

        What is impossible finds nothing to move, with one exception: what seat 0 just put on the table was not there at
        the start of the step, so seat 1 can't take it yet.
        """
        empty = (items != TABLE).all(1, keepdim=True)
        action = action.masked_fill((action == TAKE_FROM_TABLE) & empty, STAY)
        source, target = self.sources[self.seats, action, cells], self.targets[self.seats, action, cells]
        for seat in range(2):
            items = torch.where(items == source[:, seat], target[:, seat], items)
        return items

    def view(self, state: TensorDict) -> Tensor:
        """Own cell and hand, the other's, the items, the tools."""
        cells, items = state["cells"], state["items"]
        hands = (items[:, None] == HANDS + self.seats[:, None]).long() * 2 - 1
        chefs = torch.cat([cells[..., None], hands], -1)
        places = torch.cat([items.where(items < HANDS, NOWHERE), self.tools.expand(len(cells), -1)], -1)
        return torch.cat([chefs, chefs.flip(1), places[:, None].expand(-1, 2, -1)], -1)

    def from_view(self, view: Tensor) -> TensorDict:
        """Read cells and hands from each seat's own part.

        The view doesn't say whether the dish was ever together; where it is now, it was.
        """
        view = view.long()
        hands, items = view[:, :, 1 : 1 + ITEMS] > 0, view[:, 0, 12 : 12 + ITEMS]
        for seat in range(2):
            items = items.masked_fill(hands[:, seat], HANDS + seat)
        _, chopped, _, blended, plate = items.unbind(1)
        assembled = (chopped == plate) & (blended == plate) & (plate != NOWHERE)
        return self.pack(view[:, :, 0], items, assembled)

    def encode(self, view: Tensor) -> Tensor:
        """One-hot cells and locations (none set for an item that is held or doesn't exist), hands as they are."""
        own, other = (
            functional.embedding(view[..., 0], self.cell_rows),
            functional.embedding(view[..., 6], self.cell_rows),
        )
        places = functional.embedding(view[..., 12 : 12 + ITEMS] + 1, self.place_rows).flatten(-2)
        return torch.cat([own, other, view[..., 1 : 1 + ITEMS], view[..., 7 : 7 + ITEMS], places], -1)

    def action_names(self) -> list[str]:
        """Walk, put, take, or use the tool."""
        walks = ["stay", "anticlockwise", "clockwise"]
        return [*walks, "put on counter", "put on table", "take from table", "take from counter", "use tool"]

    def observation_names(self) -> list[str]:
        """Who stands where and holds what (+1 or -1), and where everything is."""
        cells = [f"{who} cell is {cell}" for who in ("own", "other's") for cell in range(CELLS)]
        hands = [f"{who} hand holds {item}" for who in ("own", "other's") for item in ITEM_NAMES]
        where = [f"on counter {cell}" for cell in range(CELLS)] + ["on the table"]
        return [*cells, *hands, *(f"{item} is {place}" for item in ITEM_NAMES for place in where)]

    def view_names(self) -> list[str]:
        """The same in plain numbers."""
        chefs = [[f"{who} cell", *(f"{who} hand holds {item}" for item in ITEM_NAMES)] for who in ("own", "other's")]
        tools = [f"location of {tool}" for tool in ("blender", "knife", "serving counter")]
        return [*chefs[0], *chefs[1], *(f"location of {item}" for item in ITEM_NAMES), *tools]

    def heuristics(self) -> "Policies":
        """H1 to H12 (Appendix B.3)."""
        from brdiv.games.cooking.heuristics import CookingHeuristics

        return CookingHeuristics(self)

    def strategies(self) -> "Strategies":
        """Who does which part of the dish, and where it comes together."""
        from brdiv.games.cooking.strategies import Roles

        return Roles()

    def draw(self, view: Sequence[int], axes: "Axes") -> None:
        """Counters with tools and items, the table, both chefs with what they hold."""
        from brdiv.games.cooking.drawing import draw

        draw(self, view, axes)

    def text(self, view: Sequence[int]) -> str:
        """One line per cell."""
        from brdiv.games.cooking.drawing import text

        return text(self, view)

    def guide(self) -> "Guide":
        """Explain the game to people."""
        from brdiv.games.cooking.scene import guide

        return guide(self)

    def scene(self, view: Sequence[int]) -> "list[Shape]":
        """Show the view in a browser."""
        from brdiv.games.cooking.scene import scene

        return scene(self, view)

    def news(self, before: Sequence[int], after: Sequence[int], action: Sequence[int], reward: float) -> str:
        """Say what was paid, and why."""
        from brdiv.games.cooking.scene import news

        return news(self, before, after, action, reward)

    def pack(self, cells: Tensor, items: Tensor, assembled: Tensor) -> TensorDict:
        """Put a state together."""
        entries = {"cells": cells, "items": items, "assembled": assembled}
        return TensorDict(entries, [len(cells)])


def item_moves() -> tuple[Tensor, Tensor]:
    """What an action does to every item: one that is at its source goes to its target, each ``[2, 8, 10, 5]``.

    Read for a seat, an action and the cell the chef stands on. What moves is all there is at a place. A tool sends the
    raw food away; what it turns into is the step's to place.
    """
    sources = torch.full((2, 8, CELLS, ITEMS), UNTOUCHED)
    targets = torch.full((2, 8, CELLS, ITEMS), UNTOUCHED)
    counters = torch.arange(CELLS)[:, None]
    for seat in range(2):
        hand = HANDS + seat
        for action, source, target in (
            (PUT_ON_COUNTER, hand, counters),
            (PUT_ON_TABLE, hand, TABLE),
            (TAKE_FROM_COUNTER, counters, hand),
            (TAKE_FROM_TABLE, TABLE, hand),
        ):
            sources[seat, action], targets[seat, action] = source, target
    for tool, raw in ((KNIFE, TOMATO), (BLENDER, CARROT)):
        sources[:, USE, tool, raw], targets[:, USE, tool, raw] = tool, NOWHERE
    return sources, targets
