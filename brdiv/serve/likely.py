"""What an agent is likely to do next: told by itself, or found out by asking often."""

import torch
from torch import Tensor

from brdiv.games import Memory, SeatView
from brdiv.teamwork.play import Seats

TIMES = 64
"""How often an agent is asked that can't tell."""


@torch.no_grad()
def likely_actions(seats: Seats, seat: int, seen: SeatView, n_actions: int) -> list[float] | None:
    """Probability of each action, without touching the episode: its memory and its luck stay as they are."""
    policies, which, memory = seats.policies[seat], seats.which[seat], seats.memory[seat]
    told = policies.probabilities(which, seen, memory)
    if told is None:
        again = torch.zeros(TIMES, dtype=torch.long)
        luck = torch.Generator().manual_seed(0)
        actions = policies.act(which[again], seen.rows(again), repeated(memory, again), luck)
        told = torch.bincount(actions, minlength=n_actions)[None] / TIMES
    return [round(value, 3) for value in told[0].tolist()]


def repeated(memory: Memory, rows: Tensor) -> Memory:
    """Copy what is remembered of one row."""
    if isinstance(memory, Tensor):
        return memory[rows]
    if isinstance(memory, dict):
        return {key: repeated(value, rows) for key, value in memory.items()}
    return memory
