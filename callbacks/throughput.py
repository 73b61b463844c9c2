"""How fast the run is."""

import time

from lightning import Callback, Trainer
from lightning.pytorch.utilities import rank_zero_only

from brdiv.training import CountedModule


class Throughput(Callback):
    """Logs environment steps per second, all rows of all devices counted, since the last time it logged."""

    def __init__(self) -> None:
        self.since: tuple[float, int] | None = None

    @rank_zero_only
    def on_train_start(self, trainer: Trainer, module: CountedModule) -> None:
        """Start the clock."""
        self.since = (time.perf_counter(), module.env_steps)

    @rank_zero_only
    def on_train_batch_end(
        self, trainer: Trainer, module: CountedModule, outputs: object, batch: object, batch_idx: int
    ) -> None:
        """Log with the losses."""
        if self.since is None or (batch_idx + 1) % trainer.log_every_n_steps:  # type: ignore[attr-defined]
            return
        now, (then, steps) = time.perf_counter(), self.since
        module.report({"throughput/env_steps_per_second": (module.env_steps - steps) / (now - then)})
        self.since = (now, module.env_steps)
