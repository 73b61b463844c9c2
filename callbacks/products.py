"""Which library multiplies matrices."""

import sys
from contextlib import ExitStack
from typing import Any, Literal

from lightning import Callback, Trainer

from brdiv.errors import UserError
from brdiv.training import TeammateGenerator
from brdiv.training.products import Measured, available, fastest, measure, multiplied

from .watched import data_of

NAMES = {"blas": "BLAS", "onednn": "oneDNN"}


class MatrixProducts(Callback):
    """Takes the fastest way to multiply matrices on this CPU that is exact in float32, and keeps to it.

    A resumed run multiplies as it did before: another library rounds in another order, so results would differ in
    their last digits and then in everything. On other devices there is nothing to choose.

    Args:
        by: Library that multiplies on the CPU. The default measures which is fastest at full precision; to repeat a
            run bit for bit on other machines, name one.

    """

    def __init__(self, by: Literal["auto", "blas", "onednn"] = "auto") -> None:
        self.by = by
        self.chosen: str | None = None
        self.in_use = ExitStack()

    def state_dict(self) -> dict[str, Any]:
        """What was chosen."""
        return {"chosen": self.chosen}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Keep to it."""
        self.chosen = state_dict["chosen"]

    def on_fit_start(self, trainer: Trainer, module: TeammateGenerator) -> None:
        """Choose, the same on all ranks, before anything is computed."""
        if trainer.strategy.root_device.type != "cpu":
            return
        if self.by != "auto":
            if self.by not in available():
                raise UserError(f"products.by is {self.by}: this build of torch has only {', '.join(available())}")
            self.chosen = self.by
        elif self.chosen not in available():  # new, of an earlier version, or of another machine
            self.chosen = trainer.strategy.broadcast(self.choose(trainer, module))
        assert self.chosen is not None
        self.in_use.enter_context(multiplied(self.chosen))

    def choose(self, trainer: Trainer, module: TeammateGenerator) -> str:
        """Measure, and say what came of it."""
        data = data_of(trainer)
        measured = measure(module.population, module.critic, data.pairing.rows, data.window)
        if trainer.is_global_zero:
            print(described(measured, fastest(measured)), file=sys.stderr)
        return fastest(measured)

    def teardown(self, trainer: Trainer, module: TeammateGenerator, stage: str) -> None:
        """Leave torch as it was."""
        self.in_use.close()


def described(measured: dict[str, Measured], chosen: str) -> str:
    """One line on how the ways compare."""
    ways = ", ".join(f"{NAMES[way]} {1000 * m.seconds:.1f} ms (error {m.error:.0e})" for way, m in measured.items())
    return f"brdiv: matrices are multiplied by {NAMES[chosen]}: {ways}"
