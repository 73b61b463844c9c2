"""What a callback watches: one typed way to the data, the run's folder and the pictures."""

import gc
import sys

from lightning import Trainer
from lightning.pytorch.loggers import TensorBoardLogger
from matplotlib.figure import Figure

from brdiv.errors import UserError
from brdiv.figures import as_image
from brdiv.runs import RunFolder
from brdiv.runs.lock import check_there
from brdiv.training import CountedModule, RolloutData, StreamData


def stream_of(trainer: Trainer) -> StreamData:
    """Return the data module that a run trains with, whatever it trains."""
    data = trainer.datamodule  # type: ignore[attr-defined]
    assert isinstance(data, StreamData), "these callbacks watch runs on StreamData"
    return data


def data_of(trainer: Trainer) -> RolloutData:
    """Return the data module that a population trains with."""
    data = stream_of(trainer)
    assert isinstance(data, RolloutData), "these callbacks watch runs on RolloutData"
    return data


def folder_of(trainer: Trainer) -> RunFolder | None:
    """Return the run's folder, which is the Trainer's root whatever its logger; None where nothing is to be written."""
    if not trainer.is_global_zero or trainer.fast_dev_run:  # type: ignore[attr-defined]
        return None
    folder = RunFolder(trainer.default_root_dir)
    check_there(folder.path)
    return folder


def log_picture(trainer: Trainer, module: CountedModule, name: str, figure: Figure) -> None:
    """Show a figure in TensorBoard, against environment steps, and let go of it.

    A figure is full of references in circles. Python would find them in the end, but only after tens of megabytes.
    """
    for logger in trainer.loggers:
        if isinstance(logger, TensorBoardLogger):
            logger.experiment.add_image(name, as_image(figure, name), module.env_steps, dataformats="HWC")
    del figure
    gc.collect()


def say_with(exception: BaseException, told: str) -> None:
    """Say something beside what ended a run: in the same line, where that is answered in one."""
    if isinstance(exception, UserError):
        exception.add_note(told)
    else:
        print(told, file=sys.stderr)
