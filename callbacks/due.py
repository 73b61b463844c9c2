"""When something that is done every so many steps is due, and where its pictures go."""

import gc

from lightning import Trainer
from lightning.pytorch.loggers import TensorBoardLogger
from matplotlib.figure import Figure

from brdiv.module import TeammateGenerator
from brdiv.plots import as_image


class Due:
    """Comes round every so many environment steps; never, if that is 0."""

    def __init__(self, every: int) -> None:
        self.every = every
        self.next = every

    def start_from(self, step: int) -> None:
        """Count on from a step: the next multiple is due."""
        self.next = (step // self.every + 1) * self.every if self.every else 0

    def reached(self, step: int) -> bool:
        """Whether it is due at a step."""
        return bool(self.every) and step >= self.next


def check_least(owner: str, **settings: tuple[float, float]) -> None:
    """Refuse settings, each given with the least it may be."""
    for name, (value, least) in settings.items():
        if value < least:
            raise ValueError(f"{owner}.{name} is {value}: it must be at least {least}")


def log_picture(trainer: Trainer, module: TeammateGenerator, name: str, figure: Figure) -> None:
    """Show a figure in TensorBoard, against environment steps, and let go of it.

    A figure is full of references in circles. Python would find them in the end, but only after tens of megabytes.
    """
    for logger in trainer.loggers:
        if isinstance(logger, TensorBoardLogger):
            logger.experiment.add_image(name, as_image(figure, name), module.env_steps, dataformats="HWC")
    del figure
    gc.collect()
