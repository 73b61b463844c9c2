"""The teammate's seat of rows whose episodes begin and end at different times, as in a vector environment."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from brdiv.games import Memory, Policies, SeatView

Candidate = tuple[Policies, int]
"""Someone who may sit down: policies, and the number of one of them."""


class Rotation:
    """Lets one of T candidates play each of R rows, another one whenever the row starts anew.

    `Policies` start and remember whole batches. Here each kind of policies remembers all rows, of which it is shown
    those that it plays.

    Args:
        candidates: Who may sit down. Those of the same policies act in one call.
        rows: How many rows there are.
        generator: Random numbers of the candidates.

    """

    def __init__(self, candidates: Sequence[Candidate], rows: int, generator: torch.Generator) -> None:
        self.kinds = list({id(policies): policies for policies, _ in candidates}.values())
        places = {id(policies): place for place, policies in enumerate(self.kinds)}
        device = generator.device
        self.kind_of = torch.tensor([places[id(policies)] for policies, _ in candidates], device=device)
        self.number_of = torch.tensor([number for _, number in candidates], device=device)
        self.generator = generator
        # Off the CPU, finding out which rows a kind plays would stall the queue: there every kind plays all of them,
        # and what it does is taken where it is asked for.
        self.waits_to_look = device.type != "cpu"
        self.needs_view = any(policies.needs_view for policies in self.kinds)
        self.kind = torch.full((rows,), -1, device=device)  # [R] of the policies that play a row
        self.number = torch.zeros(rows, dtype=torch.long, device=device)  # [R] of the one of them that does
        self.memory: list[Memory] = [None] * len(self.kinds)

    def sit_down(self, which: Tensor, done: Tensor, seen: SeatView) -> None:
        """Begin an episode in the rows that are ``done [R]``, played by candidates ``which [R]``."""
        self.kind = torch.where(done, self.kind_of[which], self.kind)
        self.number = torch.where(done, self.number_of[which], self.number)
        for place, policies in enumerate(self.kinds):
            begun_here = done & (self.kind == place)
            if self.waits_to_look:
                begun = policies.begin(self.numbers_of(place), seen, self.generator)
                self.memory[place] = merged(self.memory[place], begun, begun_here)
                continue
            rows = begun_here.nonzero().squeeze(-1)
            if len(rows):
                begun = policies.begin(self.number[rows], seen.rows(rows), self.generator)
                self.memory[place] = scatter(self.memory[place], begun, rows, len(done))

    def resume(self, which: Tensor, memory: list[Memory]) -> None:
        """Go on with episodes that candidates ``which [R]`` play, each kind of policies remembering ``memory``."""
        self.kind, self.number, self.memory = self.kind_of[which], self.number_of[which], memory

    def act(self, seen: SeatView) -> Tensor:
        """Choose ``action [R]``."""
        if len(self.kinds) == 1:
            return self.kinds[0].act(self.number, seen, self.memory[0], self.generator)
        action = torch.zeros_like(self.number)
        if self.waits_to_look:
            for place, policies in enumerate(self.kinds):
                did = policies.act(self.numbers_of(place), seen, self.memory[place], self.generator)
                action = torch.where(self.kind == place, did, action)
            return action
        for place, rows in self.played():
            remembered = gather(self.memory[place], rows)
            action[rows] = self.kinds[place].act(self.number[rows], seen.rows(rows), remembered, self.generator)
            self.memory[place] = scatter(self.memory[place], remembered, rows, len(action))
        return action

    def watch(self, other: SeatView, action: Tensor) -> None:
        """Tell them that the learner, seeing ``other``, has done ``action [R]``."""
        if len(self.kinds) == 1:
            self.kinds[0].watch(self.number, other, action, self.memory[0])
            return
        if self.waits_to_look:
            for place, policies in enumerate(self.kinds):
                policies.watch(self.numbers_of(place), other, action, self.memory[place])
            return
        for place, rows in self.played():
            remembered = gather(self.memory[place], rows)
            self.kinds[place].watch(self.number[rows], other.rows(rows), action[rows], remembered)
            self.memory[place] = scatter(self.memory[place], remembered, rows, len(action))

    def numbers_of(self, place: int) -> Tensor:
        """Numbers ``[R]`` for one kind of policies in every row; of rows that others play, one that they have."""
        return self.number.clamp(max=len(self.kinds[place]) - 1)

    def played(self) -> list[tuple[int, Tensor]]:
        """Which rows each kind plays, where it plays any."""
        found = [(place, (self.kind == place).nonzero().squeeze(-1)) for place in range(len(self.kinds))]
        return [(place, rows) for place, rows in found if len(rows)]


def gather(memory: Memory, rows: Tensor) -> Memory:
    """Take what is remembered of some rows."""
    return mapped(lambda value: value[rows], memory)


def scatter(memory: Memory, part: Memory, rows: Tensor, n_rows: int) -> Memory:
    """Put what is remembered of some rows into what is remembered of all; zeros where nothing is yet."""

    def put(value: Tensor, old: Tensor | None) -> Tensor:
        whole = value.new_zeros(n_rows, *value.shape[1:]) if old is None else old.clone()
        whole[rows] = value
        return whole

    return mapped(put, part, memory)


def merged(memory: Memory, begun: Memory, where: Tensor) -> Memory:
    """Take what is remembered of new episodes ``where [R]`` one begins; where nothing is remembered yet, all of it."""

    def choose(new: Tensor, old: Tensor | None) -> Tensor:
        return new if old is None else torch.where(where.view(-1, *[1] * (new.dim() - 1)), new, old)

    return mapped(choose, begun, memory)


def mapped(change: Callable[..., Tensor], memory: Memory, *others: Any) -> Memory:
    """Change every tensor of what is remembered; all of them have a row's entry first."""
    if memory is None:
        return None
    if isinstance(memory, Tensor):
        return change(memory, *others)
    if isinstance(memory, dict):
        return {
            key: mapped(change, value, *(None if other is None else other.get(key) for other in others))
            for key, value in memory.items()
        }
    if isinstance(memory, list):
        return [
            mapped(change, value, *(None if other is None else other[place] for other in others))
            for place, value in enumerate(memory)
        ]
    raise TypeError(
        f"a teammate remembers {type(memory).__name__}: where rows start at different times it must be None, a tensor "
        "with an entry per row, or a dict or list of those"
    )
