"""What every module of ours that trains has in common: it counts environment steps, reports, and guards its numbers."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from lightning import LightningModule

from brdiv.training.finite import LateGuard, check_finite
from brdiv.training.stream import StreamData


class CountedModule(LightningModule):
    """Counts environment steps, logs against them, and stops before numbers that are not finite are kept."""

    command = "fit"
    """The command of brdiv that trains it, and resumes its runs."""

    def __init__(self) -> None:
        super().__init__()
        self.env_steps = 0
        self.late_guard = LateGuard()

    @property
    def steps_per_window(self) -> int:
        """Steps of the optimiser that one window leads to."""
        return 1

    def made_with(self, data: StreamData) -> dict[str, Any]:
        """What must be the same when a run is resumed, in words that can be compared."""
        raise NotImplementedError

    def playing(self) -> AbstractContextManager[None]:
        """What holds while a window is played, and not while it is learned from."""
        return nullcontext()

    def logs_now(self) -> bool:
        """Whether this update is one of those that are logged."""
        return bool(self.trainer.fit_loop.batch_idx % self.trainer.log_every_n_steps == 0)  # type: ignore[attr-defined]

    def reads_at_once(self) -> bool:
        """Whether looking at a number costs nothing. Elsewhere it would stall the queue: there `LateGuard` looks."""
        return self.device.type == "cpu"

    def check_numbers(self) -> None:
        """Refuse to go on with, or to keep, what came of numbers that are not finite."""
        self.late_guard.check(self.env_steps)
        check_finite(self)

    def report(self, metrics: dict[str, Any], monitored: bool = True) -> None:
        """Give metrics to the loggers, and to Lightning for whoever monitors them (`trainer.callback_metrics`).

        Loggers get them against environment steps: updates mean different things for different numbers of rows.
        Lightning itself would log against updates, or round environment steps to a float's precision. When training
        has ended it takes nothing more: then metrics must not be ``monitored``.
        """
        for logger in self.loggers:
            logger.log_metrics(metrics, step=self.env_steps)
        if monitored:
            self.log_dict(metrics, logger=False)

    def is_mixed(self) -> bool:
        """Whether products are computed in fewer digits than weights have: there Lightning clips no fused optimiser."""
        return self._trainer is not None and self._trainer.precision != "32-true"

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Keep the count of environment steps."""
        checkpoint["env_steps"] = self.env_steps

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Resume counting where the checkpoint stopped, with the optimiser's settings of this run."""
        self.env_steps = checkpoint["env_steps"]
        # A run that had reached its end is asked for more: Lightning would take it at its word, and train nothing.
        checkpoint["loops"]["fit_loop"]["epoch_loop.batch_progress"]["is_last_batch"] = False
        (state,) = checkpoint["optimizer_states"]
        own: Any = self.configure_optimizers()
        for saved, group in zip(state["param_groups"], own.param_groups, strict=True):
            saved.update({name: value for name, value in group.items() if name != "params"})
