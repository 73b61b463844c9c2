"""A run of `brdiv fit` that trains a stretch whenever it is told to, for `brdiv bench --against`.

It is run as a file, by the Python of any version of brdiv, and so uses nothing but what all of them have. First it says
how many steps an update has. Then each line that it reads is a number of updates to train, and it answers with the
seconds that they took: by the clock, and of computing.
"""

import sys
import tempfile
import time
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import TextIO

from lightning import Callback

ENOUGH = 1_000_000  # updates, of which nobody asks for the last


class Over(Exception):
    """Nobody is left to say how to go on."""


class Turns(Callback):
    """Stops after every stretch until it is told to go on."""

    def __init__(self, orders: TextIO, answers: TextIO, steps: int) -> None:
        self.orders = orders
        self.answers = answers
        self.steps = steps
        self.left = 0
        self.began = (0.0, 0.0)

    def on_train_start(self, *_: object) -> None:
        """Wait for the first stretch."""
        self.answer(self.steps)

    def on_train_batch_end(self, *_: object) -> None:
        """Tell how long a stretch took, and wait for the next one."""
        self.left -= 1
        if self.left == 0:
            self.answer(time.perf_counter() - self.began[0], time.process_time() - self.began[1])

    def answer(self, *numbers: float) -> None:
        """Write numbers down, and read how long the next stretch is."""
        print(*numbers, file=self.answers, flush=True)
        order = self.orders.readline()
        if not order:
            raise Over
        self.left = int(order)
        self.began = (time.perf_counter(), time.process_time())


def main(arguments: list[str]) -> None:
    """Build what `brdiv fit` would train with these arguments, and train it in turns."""
    from brdiv.commands.line.training import build_parts

    answers = sys.stdout
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(sys.stderr), suppress(Over):
        run = build_parts(arguments, Path(folder, "run"), ENOUGH)
        run.trainer.callbacks.append(Turns(sys.stdin, answers, run.data.steps_per_update))  # type: ignore[attr-defined]
        run.trainer.fit(run.module, datamodule=run.data)


if __name__ == "__main__":
    main(sys.argv[1:])
