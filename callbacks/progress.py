"""Progress in environment steps: a bar in a terminal, a plain line now and then elsewhere."""

import time

from lightning import Trainer
from lightning.pytorch.callbacks import ProgressBar
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from brdiv.training import CountedModule

from .cross_play import CrossPlay
from .learner import LearnerEvaluation
from .watched import stream_of


class StepProgress(ProgressBar):
    """Shows steps done, steps per second, time left, and the cross-play returns that were measured last.

    Args:
        seconds: Seconds between two lines where the output is not a terminal.

    """

    def __init__(self, seconds: float = 15.0) -> None:
        super().__init__()
        self.seconds = seconds
        self.console = Console()
        self.bar: Progress | None = None
        self.task = TaskID(0)
        self.began, self.first_step, self.printed = 0.0, 0, 0.0
        self.enabled = True

    def enable(self) -> None:
        """Show progress (Lightning enables rank 0 alone)."""
        self.enabled = True

    def disable(self) -> None:
        """Stay silent."""
        self.enabled = False

    def on_train_start(self, trainer: Trainer, module: CountedModule) -> None:
        """Start the clock and, in a terminal, the bar."""
        self.began, self.first_step = time.perf_counter(), module.env_steps
        self.printed = self.began
        if self.enabled and self.console.is_terminal:
            self.bar = Progress(
                TextColumn("[bold]training"), BarColumn(bar_width=None), TextColumn("{task.description}"),
                console=self.console,
            )  # fmt: skip
            self.bar.start()
            self.task = self.bar.add_task("", total=self.total(trainer))

    def on_train_batch_end(self, trainer: Trainer, module: CountedModule, *_: object) -> None:
        """Move the bar ten times a second at most, or print a line when it is time."""
        now = time.perf_counter()
        if not self.enabled or now - self.printed < (0.1 if self.bar is not None else self.seconds):
            return
        self.printed = now
        self.show(trainer, module)

    def on_train_end(self, trainer: Trainer, module: CountedModule) -> None:
        """Show the last state and release the terminal."""
        if self.enabled:
            self.show(trainer, module)
        self.stop()

    def on_exception(self, trainer: Trainer, module: CountedModule, exception: BaseException) -> None:
        """Release the terminal."""
        self.stop()

    def stop(self) -> None:
        """End the bar, if there is one."""
        if self.bar is not None:
            self.bar.stop()
            self.bar = None

    def show(self, trainer: Trainer, module: CountedModule) -> None:
        """Draw or print the present state."""
        text = describe(module.env_steps, self.total(trainer), self.first_step, time.perf_counter() - self.began)
        measured = last_measured(trainer)
        if self.bar is not None:
            # On a line of its own: together they would be wider than many a terminal.
            lines = f"{text}\n{measured}" if measured else text
            self.bar.update(self.task, completed=module.env_steps, description=lines)
        else:
            print(f"training: {text}{', ' if measured else ''}{measured}", flush=True)

    @staticmethod
    def total(trainer: Trainer) -> int:
        """Environment steps of the whole run."""
        return stream_of(trainer).planned_steps(trainer.world_size)


def describe(step: int, total: int, first_step: int, seconds: float) -> str:
    """Say how far a run is: ``first_step`` is where it began, ``seconds`` ago.

    >>> describe(500_000, 1_000_000, 0, 10.0)
    '500,000 of 1,000,000 steps (50 %), 50,000 steps/s, 0:10 left'
    """
    speed = (step - first_step) / max(seconds, 1e-9)
    share = f"{step:,} of {total:,} steps ({100 * step // total} %)"
    if step >= total:
        return f"{share}, {speed:,.0f} steps/s, done in {clock(seconds)}"
    return f"{share}, {speed:,.0f} steps/s, {clock((total - step) / speed) if speed else '?'} left"


def last_measured(trainer: Trainer) -> str:
    """Say what teams earned, and pairs that mix them, or a learner, when last measured; nothing before."""
    for callback in trainer.callbacks:  # type: ignore[attr-defined]
        if isinstance(callback, CrossPlay) and callback.latest:
            return f"diagonal {callback.latest.diagonal:.3f}, off-diagonal {callback.latest.off_diagonal:.3f}"
        if isinstance(callback, LearnerEvaluation) and callback.latest:
            return callback.latest
    return ""


def clock(seconds: float) -> str:
    """Write a duration as h:mm:ss, or m:ss where there is no hour.

    >>> clock(59.6), clock(3725)
    ('1:00', '1:02:05')
    """
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
