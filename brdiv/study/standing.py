"""How a study stands: every cell, how far it is, how fast, and how long the rest will take."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from brdiv.study.attempt import tail
from brdiv.study.cells import DONE, FAILED, RUNNING, WAITING, Cell, State, now


class Standing(NamedTuple):
    """A study at one moment."""

    states: dict[Cell, State]
    planned: Mapping[Cell, int]  # environment steps of whole runs
    speeds: dict[Cell, float]  # steps per second, of cells that are running

    def count(self, *states: str) -> int:
        """How many cells are in some states."""
        return sum(state.state in states for state in self.states.values())

    def seconds_left(self, jobs: int, measured: Mapping[str, float] | None = None) -> float | None:
        """Estimate how long the rest will take, so many cells at a time; None while nothing is known.

        A cell is taken to be as fast as those of its own group, else as others of its kind on its game; ``measured``
        has speeds of games' populations for want of better.
        """
        known: dict[tuple[str, ...], list[float]] = {}
        for cell, state in self.states.items():
            speed = self.speeds.get(cell) or (
                state.steps / state.seconds if state.state == DONE and state.seconds else 0
            )
            if speed:
                for key in kinds(cell):
                    known.setdefault(key, []).append(speed)
        for game, speed in (measured or {}).items():
            known.setdefault(("", game), []).append(speed)
            known.setdefault((), []).append(speed)
        if not known:
            return None
        left = []
        for cell, state in self.states.items():
            if state.state in {WAITING, RUNNING}:
                speeds = next(known[key] for key in kinds(cell) if key in known)
                left.append((self.planned[cell] - state.steps) * len(speeds) / sum(speeds))
        return max(sum(left) / jobs, max(left, default=0.0))


def kinds(cell: Cell) -> list[tuple[str, ...]]:
    """Whose speed is like a cell's, nearest first: its group's, that of the same learner on its game, anyone's."""
    return [(cell.group,), (cell.learner, cell.game), ()]


def look_at(cells: Sequence[Cell], planned: Mapping[Cell, int]) -> Standing:
    """Read how all cells stand, from their files and the logs of those that run."""
    states, speeds = {}, {}
    for cell in cells:
        state = cell.state()
        if state.state == RUNNING:
            steps = steps_so_far(cell)
            elapsed = now() - state.started
            if steps > state.steps and elapsed > 0:
                speeds[cell] = (steps - state.steps) / elapsed
                state = State(RUNNING, "", state.seconds, state.attempts, steps, state.started)
        states[cell] = state
    return Standing(states, planned, speeds)


def steps_so_far(cell: Cell) -> int:
    """Read from a run's log how far it is; 0 where it doesn't say yet."""
    text = tail(cell.log, 4096).rpartition("--- attempt")[2]
    found = re.findall(r"training: ([\d,]+) of", text)
    return int(found[-1].replace(",", "")) if found else 0


def clock(seconds: float | None) -> str:
    """Write a duration.

    >>> clock(59.6), clock(3725), clock(200_000), clock(None)
    ('1:00', '1:02:05', '2 d 7 h', '?')
    """
    if seconds is None:
        return "?"
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    if hours >= 48:
        return f"{hours // 24} d {hours % 24} h"
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def in_one_line(standing: Standing, jobs: int) -> str:
    """Say in one line how a study stands."""
    parts = [f"{standing.count(DONE)} of {len(standing.states)} cells done", f"{standing.count(RUNNING)} running"]
    if standing.count(FAILED):
        parts.append(f"{standing.count(FAILED)} failed")
    if standing.speeds:
        parts.append(f"{sum(standing.speeds.values()):,.0f} steps/s")
    if standing.count(WAITING, RUNNING):
        parts.append(f"{clock(standing.seconds_left(jobs))} left")
    return ", ".join(parts)
