"""A study as one watches it: a live table in a terminal, plain lines in a log."""

import itertools
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from brdiv.study.cells import DONE, FAILED, RUNNING, WAITING, Cell, State
from brdiv.study.standing import Standing, clock, in_one_line, look_at

REFRESH, LINES = 1.0, 60.0  # seconds between two tables, and between two lines


class View:
    """Shows how a study's cells stand while they are trained.

    Args:
        cells: All cells of the study.
        planned: Environment steps of each one's whole run.
        jobs: How many are trained at a time.
        console: Where to.

    """

    def __init__(
        self, cells: Sequence[Cell], planned: Mapping[Cell, int], jobs: int, console: Console | None = None
    ) -> None:
        self.cells, self.planned, self.jobs = cells, planned, jobs
        self.console = console or Console(highlight=False)
        self.live: Live | None = None
        self.shown = 0.0

    def __enter__(self) -> Self:
        """Begin to show."""
        if self.console.is_terminal:
            self.live = Live(self.table(), console=self.console, auto_refresh=False)
            self.live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the last state on the screen."""
        if self.live is not None:
            self.live.update(self.table(), refresh=True)
            self.live.stop()

    def look(self, running: Sequence[Cell] = ()) -> None:
        """Show how it stands, if it is time."""
        current = time.monotonic()
        if self.live is not None and current - self.shown > REFRESH:
            self.live.update(self.table(), refresh=True)
        elif self.live is None and current - self.shown > LINES:
            if self.shown:
                self.say(in_one_line(look_at(self.cells, self.planned), self.jobs))
        else:
            return
        self.shown = time.monotonic()

    def ended(self, cell: Cell, state: State) -> None:
        """Say how a cell ended."""
        if self.live is None:
            self.say(f"{cell.name}: {described(state)}")

    def say(self, text: str) -> None:
        """Print a line, above the table if there is one."""
        self.console.print(escape(text), soft_wrap=True)

    def table(self) -> Table:
        """Draw every method on every game as a row, its seeds as signs."""
        standing = look_at(self.cells, self.planned)
        table = Table(title=in_one_line(standing, self.jobs), title_justify="left", caption_justify="left")
        table.caption = "\n".join(failures(standing)[-8:])
        for name, side in (("game", "left"), ("method", "left"), ("seeds", "left"), ("steps/s", "right")):
            table.add_column(name, justify=side)  # type: ignore[arg-type]
        table.add_column("trained", justify="right")
        for _, group in itertools.groupby(self.cells, key=lambda cell: cell.group):
            cells = list(group)
            game, method = cells[0].game, " + ".join(part for part in (cells[0].method, cells[0].learner) if part)
            speed = sum(standing.speeds.get(cell, 0.0) for cell in cells)
            share = sum(standing.states[c].steps for c in cells) / max(1, sum(self.planned[c] for c in cells))
            signs = " ".join(sign(standing, cell) for cell in cells)
            table.add_row(game, method, signs, f"{speed:,.0f}" if speed else "", f"{min(share, 1):.0%}")
        return table


def sign(standing: Standing, cell: Cell) -> str:
    """Mark a seed: done, how far it is, failed, or waiting."""
    state = standing.states[cell]
    if state.state == RUNNING:
        return f"[yellow]{cell.seed}:{state.steps / max(1, standing.planned[cell]):.0%}[/]"
    return {DONE: f"[green]{cell.seed}✓[/]", FAILED: f"[red]{cell.seed}✗[/]", WAITING: f"[dim]{cell.seed}[/]"}[
        state.state
    ]


def failures(standing: Standing) -> list[str]:
    """One line for each cell that failed, with why."""
    return [
        f"[red]{cell.name} failed: {escape(state.why.removeprefix('brdiv: error: '))}[/]"
        for cell, state in standing.states.items()
        if state.state == FAILED
    ]


def described(state: State) -> str:
    """Say in a few words how a cell ended."""
    if state.state == FAILED:
        return f"failed after {clock(state.seconds)}: {state.why.removeprefix('brdiv: error: ')}"
    if state.state == DONE:
        again = f", in {state.attempts} attempts" if state.attempts > 1 else ""
        return f"done, {state.steps:,} steps in {clock(state.seconds)}{again}"
    return f"not trained: {state.why}" if state.why else f"stopped at {state.steps:,} steps"
