"""Checkpoints: a run that is stopped, or killed, resumes from the last one as if nothing had happened."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from lightning import Trainer
from lightning.pytorch.callbacks import Checkpoint
from torch import distributed

from brdiv.errors import UserError
from brdiv.runs import RunFolder
from brdiv.runs.lock import FolderGoneError, check_there
from brdiv.training import CountedModule
from brdiv.training.ranks import another_process_is_gone

from .cross_play import CrossPlay
from .every import EverySteps, check_least
from .signals import StopRequests
from .staging import StagedCheckpoints
from .watched import folder_of, stream_of

UNPUBLISHED = ".part"
CLOSING = "the run has learned all it will; what is left is to measure and write it"


class RunStopped(Exception):
    """Someone asked the run to stop, and it has saved itself."""

    def __init__(self, signum: int, path: Path | None, command: str = "fit") -> None:
        super().__init__(f"stopped by {signal.Signals(signum).name}")
        self.signum = signum
        self.path = path
        self.command = command  # that resumes it


class CheckpointError(UserError):
    """A checkpoint could not be written."""


class Checkpoints(Checkpoint):
    """Writes `checkpoints/step_<N>.ckpt` every so many steps or minutes, and when the run is asked to stop.

    A file appears under its name only once it is whole, so being killed while writing costs nothing. The last one of a
    run appears when everything else is written too: a run that has it needs nothing more.

    Args:
        every: Environment steps between two checkpoints; 0 goes by the clock alone.
        minutes: Minutes between two checkpoints; 0 goes by steps alone.
        keep: How many to keep, newest first; the one with the highest BRDiv so far is kept beside them.

    """

    def __init__(self, every: int = 1_000_000, minutes: float = 10.0, keep: int = 2) -> None:
        check_least("checkpoints", every=(every, 0), minutes=(minutes, 0), keep=(keep, 1))
        self.minutes = minutes
        self.keep = keep
        self.times = EverySteps(every)
        self.best = -float("inf")
        self.newest: Path | None = None
        self.last: Path | None = None  # of a run that has learned all it will, but has not written all it should
        self.saved_at = time.monotonic()
        self.requests = StopRequests()

    def state_dict(self) -> dict[str, Any]:
        """What must not be forgotten."""
        return {"best": self.best}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Remember it."""
        self.best = state_dict["best"]

    def setup(self, trainer: Trainer, module: CountedModule, stage: str) -> None:
        """Have files written where they are to be: Lightning would fill the folder for temporary files first."""
        trainer.strategy.checkpoint_io = StagedCheckpoints()

    def on_save_checkpoint(self, trainer: Trainer, module: CountedModule, checkpoint: dict[str, Any]) -> None:
        """Say what the checkpoint is of, so that it can't be resumed as something else."""
        checkpoint["made_with"] = module.made_with(stream_of(trainer))

    def on_train_start(self, trainer: Trainer, module: CountedModule) -> None:
        """Start the clock, and listen to Ctrl-C, SIGTERM and SIGHUP: they stop the run after the update it is in."""
        self.saved_at = time.monotonic()
        self.newest = Path(trainer.ckpt_path) if trainer.ckpt_path else None
        self.times.start_from(module.env_steps)
        folder = folder_of(trainer)
        if folder is not None and module.env_steps:
            self.set_aside(folder, module.env_steps)
        self.requests.listen()
        if trainer.received_sigterm:  # it came when Lightning listened already, and we did not
            self.requests.ask(signal.SIGTERM)

    def set_aside(self, folder: RunFolder, after: int) -> None:
        """Rename checkpoints beyond the step a run resumes from: `last` must not mean what was given up."""
        for step, path in folder.numbered_checkpoints().items():
            if step > after:
                path.rename(path.with_suffix(".abandoned"))

    def on_train_batch_end(
        self, trainer: Trainer, module: CountedModule, outputs: object, batch: object, batch_idx: int
    ) -> None:
        """Save when it is time, when the population is better than ever, and when asked to stop."""
        if trainer.fast_dev_run:  # type: ignore[attr-defined]
            if self.requests.asked:
                raise RunStopped(self.requests.asked, None)
            return
        folder = RunFolder(trainer.default_root_dir)
        by_clock, stop = self.agree(trainer, batch_idx)
        better = self.better_than_ever(trainer, module)
        if better is not None:  # first, so that the next checkpoint knows it
            self.best = better
            self.save(trainer, folder.best_checkpoint)
        path = folder.checkpoint(module.env_steps)
        if is_last(trainer, batch_idx):
            self.last = self.write(trainer, path)
            self.requests.closing = CLOSING
        elif stop or by_clock or self.times.reached(module.env_steps):
            self.newest = self.save(trainer, path)
            self.saved_at = time.monotonic()
            self.times.start_from(module.env_steps)
            self.prune(trainer, folder)
            if stop:
                raise RunStopped(stop, path, module.command)

    def agree(self, trainer: Trainer, batch_idx: int) -> tuple[bool, int]:
        """Whether it is time by the clock, and which signal came: the same answer on all ranks, asked now and then."""
        by_clock = bool(self.minutes) and time.monotonic() - self.saved_at >= 60 * self.minutes
        if trainer.world_size == 1:
            return by_clock, self.requests.asked
        if batch_idx % 16:
            return False, 0
        said = torch.tensor([int(by_clock), self.requests.asked], device=trainer.strategy.root_device)
        distributed.all_reduce(said, distributed.ReduceOp.MAX)
        by_clock_anywhere, stop = said.tolist()
        return bool(by_clock_anywhere), stop

    def better_than_ever(self, trainer: Trainer, module: CountedModule) -> float | None:
        """Give the BRDiv measured at this very step, if it is the highest so far."""
        for callback in trainer.callbacks:  # type: ignore[attr-defined]
            if isinstance(callback, CrossPlay) and callback.latest and callback.latest.step == module.env_steps:
                return callback.latest.brdiv if callback.latest.brdiv > self.best else None
        return None

    def save(self, trainer: Trainer, path: Path) -> Path:
        """Write a checkpoint whole or not at all; all ranks take part."""
        return self.publish(trainer, self.write(trainer, path))

    def write(self, trainer: Trainer, path: Path) -> Path:
        """Write a checkpoint that does not count yet, and return what it will be called."""
        trainer.lightning_module.check_numbers()  # type: ignore[operator]
        part = path.with_suffix(UNPUBLISHED)
        check_there(RunFolder.of_checkpoint(path).path)
        try:
            for logger in trainer.loggers:  # what was logged so far must not be lost if what was learned is kept
                with suppress(AttributeError):
                    logger.experiment.flush()  # type: ignore[attr-defined]
            trainer.save_checkpoint(part)
            if trainer.is_global_zero:
                with part.open("rb") as file:
                    os.fsync(file.fileno())
        except (OSError, RuntimeError) as error:
            if trainer.is_global_zero:
                with suppress(OSError):
                    part.unlink()
            if isinstance(error, RuntimeError) and another_process_is_gone(error):
                raise  # what all ranks have to say could not be gathered, and that is no fault of the file
            raise CheckpointError(
                f"checkpoint {path} could not be written: {why_not(error)}; earlier ones are intact"
            ) from error
        return path

    def publish(self, trainer: Trainer, path: Path) -> Path:
        """Let a written checkpoint count, from one moment to the next.

        Other ranks wait for that: one that leaves early would have the first ended before it is done.
        """
        if trainer.is_global_zero:
            path.with_suffix(UNPUBLISHED).replace(path)
        trainer.strategy.barrier()
        return path

    def prune(self, trainer: Trainer, folder: RunFolder) -> None:
        """Remove all but the newest."""
        if trainer.is_global_zero:
            for old in list(folder.numbered_checkpoints().values())[: -self.keep]:
                old.unlink()

    def on_train_end(self, trainer: Trainer, module: CountedModule) -> None:
        """Let the last checkpoint count, and stop listening. All other callbacks have ended by now."""
        if self.last is not None:
            self.prune(trainer, RunFolder.of_checkpoint(self.publish(trainer, self.last)))
        self.requests.release()

    def on_exception(self, trainer: Trainer, module: CountedModule, exception: BaseException) -> None:
        """Stop listening, and note with whatever ended the run how it can be resumed."""
        self.requests.release()
        if self.newest is not None and not isinstance(exception, RunStopped | FolderGoneError):
            how = RunFolder.of_checkpoint(self.newest).how_to_resume(self.newest, module.command)
            exception.add_note(f"the last good checkpoint is {self.newest}: {how}")


def why_not(error: OSError | RuntimeError) -> str:
    """Say why a file could not be written, without what torch says of its own source code."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return "it was cut short; is the disk full?" if "unexpected pos" in str(error) else str(error).splitlines()[0]


def is_last(trainer: Trainer, batch_idx: int) -> bool:
    """Whether training ends with this update: by its budget, or by the Trainer's `max_steps` or `max_time`."""
    by_budget = batch_idx + 1 == trainer.num_training_batches
    return by_budget or trainer.should_stop or trainer.global_step == trainer.max_steps
