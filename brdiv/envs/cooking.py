"""Simple Cooking: two chefs on a ring who chop, blend, plate and serve."""

import torch
from tensordict import TensorDict
from torch import Tensor
from torch.nn import functional

from brdiv.envs.game import Game

CELLS = 10
TABLE = 10
HANDS = 11  # an item in seat s's hand is at location 11 + s
NOWHERE = -1

TOMATO, CHOPPED_TOMATO, CARROT, BLENDED_CARROT, PLATE = range(5)
ITEMS = 5
DISH = (CHOPPED_TOMATO, BLENDED_CARROT, PLATE)
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
    view_size = 20
    observation_size = 2 * (CELLS + ITEMS) + ITEMS * (TABLE + 1)
    first_items: Tensor
    tools: Tensor

    def __init__(self, horizon: int = 250) -> None:
        super().__init__()
        if horizon < 1:
            raise ValueError(f"horizon is {horizon}: an episode needs at least one step")
        self.horizon = horizon
        first_items = torch.tensor([1, NOWHERE, 6, NOWHERE, TABLE])
        self.register_buffer("first_items", first_items, persistent=False)
        self.register_buffer("tools", torch.tensor([BLENDER, KNIFE, SERVING]), persistent=False)

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
        cells, items = state["cells"], state["items"]
        action = action.where(self.possible(cells, items, action), STAY)
        cells = self.walk(cells, action)
        for seat in range(2):
            items = self.handle(seat, state["cells"][:, seat], items, action[:, seat])
        processed = (items[:, DISH[:2]] != NOWHERE) & (state["items"][:, DISH[:2]] == NOWHERE)
        dish = items[:, DISH]
        together = (dish == dish[:, :1]).all(1) & (dish[:, 0] != NOWHERE)
        served = together & (dish[:, 0] == SERVING)
        newly = together & ~state["assembled"]
        reward = REWARD * (processed.sum(1) + newly + served.int())
        return self.pack(cells, items, state["assembled"] | together), reward, served

    def possible(self, cells: Tensor, items: Tensor, action: Tensor) -> Tensor:
        """Whether each seat's ``action [B, 2]`` can be done in the state ``cells [B, 2]``, ``items [B, 5]``."""
        seat = torch.arange(2, device=cells.device)
        in_hand = (items[:, None] == HANDS + seat[:, None]).any(-1)
        on_counter = (items[:, None] == cells[..., None]).any(-1)
        on_table = (items == TABLE).any(1, keepdim=True).expand(-1, 2)
        other = cells.flip(1)
        chops = (cells == KNIFE) & (items[:, TOMATO, None] == KNIFE)
        blends = (cells == BLENDER) & (items[:, CARROT, None] == BLENDER)
        by_action = torch.stack(
            [
                torch.ones_like(in_hand),
                (cells - 1) % CELLS != other,
                (cells + 1) % CELLS != other,
                in_hand,
                in_hand,
                on_table,
                on_counter,
                chops | blends,
            ],
            -1,
        )
        return by_action.gather(-1, action[..., None]).squeeze(-1)

    def walk(self, cells: Tensor, action: Tensor) -> Tensor:
        """Move both chefs ``cells [B, 2]``; a free cell that both enter goes to seat 0."""
        step = (action == CLOCKWISE).long() - (action == ANTICLOCKWISE).long()
        target = (cells + step) % CELLS
        first = target[:, 0]
        second = torch.where(target[:, 1] == first, cells[:, 1], target[:, 1])
        return torch.stack([first, second], -1)

    def handle(self, seat: int, cell: Tensor, items: Tensor, action: Tensor) -> Tensor:
        """Let one seat put, take or use a tool: ``items [B, 5]`` afterwards. What moves is all there is at a place."""
        cell, action = cell[:, None], action[:, None]
        hand = HANDS + seat
        puts = (action == PUT_ON_COUNTER) | (action == PUT_ON_TABLE)
        takes = (action == TAKE_FROM_COUNTER) | (action == TAKE_FROM_TABLE)
        place = torch.where((action == PUT_ON_COUNTER) | (action == TAKE_FROM_COUNTER), cell, TABLE)
        moved = torch.where(puts & (items == hand), place, items)
        moved = torch.where(takes & (items == place), hand, moved)
        tomato, chopped, carrot, blended, plate = moved.unbind(1)
        uses = (action == USE).squeeze(1)
        chops, blends = uses & (cell == KNIFE).squeeze(1), uses & (cell == BLENDER).squeeze(1)
        return torch.stack(
            [
                tomato.masked_fill(chops, NOWHERE),
                chopped.masked_fill(chops, KNIFE),
                carrot.masked_fill(blends, NOWHERE),
                blended.masked_fill(blends, BLENDER),
                plate,
            ],
            1,
        )

    def view(self, state: TensorDict) -> Tensor:
        """Own cell and hand, the other's, the items, the tools."""
        cells, items = state["cells"], state["items"]
        seat = torch.arange(2, device=cells.device)
        hands = (items[:, None] == HANDS + seat[:, None]).long() * 2 - 1
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
        dish = items[:, DISH]
        assembled = (dish == dish[:, :1]).all(1) & (dish[:, 0] != NOWHERE)
        return self.pack(view[:, :, 0], items, assembled)

    def encode(self, view: Tensor) -> Tensor:
        """One-hot cells and locations (none set for an item that is held or doesn't exist), hands as they are."""
        own, own_hand = view[..., :1], view[..., 1 : 1 + ITEMS]
        other, other_hand = view[..., 6:7], view[..., 7 : 7 + ITEMS]
        cells = functional.one_hot(torch.cat([own, other], -1), CELLS).flatten(-2)
        places = functional.one_hot(view[..., 12 : 12 + ITEMS] + 1, TABLE + 2)[..., 1:].flatten(-2)
        return torch.cat([cells, own_hand, other_hand, places], -1).float()

    def pack(self, cells: Tensor, items: Tensor, assembled: Tensor) -> TensorDict:
        """Put a state together."""
        entries = {"cells": cells, "items": items, "assembled": assembled}
        return TensorDict(entries, [len(cells)], device=cells.device)
