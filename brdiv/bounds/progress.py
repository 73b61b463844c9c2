"""Progress of responses that are trained: a bar in a terminal, a plain line now and then elsewhere."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

LINES = 15.0
"""Seconds between two lines where the output is not a terminal."""


class TrainingProgress:
    """Shows how many updates are done, of every run that is announced.

    Args:
        console: Where to.

    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self.bar: Progress | None = None
        self.tasks: dict[str, TaskID] = {}
        self.shown = time.monotonic()

    def __enter__(self) -> Self:
        """Begin to show."""
        if self.console.is_terminal:
            columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
            self.bar = Progress(*columns, TimeRemainingColumn(), console=self.console, transient=True)
            self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release the terminal."""
        if self.bar is not None:
            self.bar.stop()

    def tell(self, what: str, done: int, total: int) -> None:
        """Show that so many updates of ``what`` are done."""
        if self.bar is not None:
            if what not in self.tasks:
                self.tasks[what] = self.bar.add_task(what, total=total)
            self.bar.update(self.tasks[what], completed=done)
        elif time.monotonic() - self.shown > LINES:
            self.shown = time.monotonic()
            self.console.print(f"{what}: {100 * done // total} %", soft_wrap=True)
