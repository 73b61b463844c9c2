"""Export of the population: the file that outlives the run."""

from typing import Any

from lightning import Callback, Trainer

from brdiv.runs import save_population
from brdiv.runs.lock import FolderGoneError
from brdiv.runs.population_file import describe
from brdiv.training import NotFiniteError, TeammateGenerator

from .watched import data_of, folder_of, say_with


class PopulationExport(Callback):
    """Writes the population file when training ends, and also when an error interrupts it."""

    def setup(self, trainer: Trainer, module: TeammateGenerator, stage: str) -> None:
        """Make sure that what there is to say can be written, before hours of training."""
        describe(module.population, data_of(trainer).game, self.about(trainer, module))

    def on_train_end(self, trainer: Trainer, module: TeammateGenerator) -> None:
        """Export the trained population."""
        self.export(trainer, module)

    def on_exception(self, trainer: Trainer, module: TeammateGenerator, exception: BaseException) -> None:
        """Save what there is. Other ranks may be gone, so nothing is asked of them."""
        useless = isinstance(exception, NotFiniteError | FolderGoneError)
        if module.env_steps > 0 and trainer.world_size == 1 and not useless:
            try:
                self.export(trainer, module)
            except OSError as error:  # must not hide why the run ended
                say_with(exception, f"the population could not be written: {error.strerror or error}")

    def export(self, trainer: Trainer, module: TeammateGenerator) -> None:
        """Write the file, with how it was made."""
        folder = folder_of(trainer)
        if folder is not None:
            game = data_of(trainer).game
            save_population(folder.population, module.population, game, self.about(trainer, module))

    @staticmethod
    def about(trainer: Trainer, module: TeammateGenerator) -> dict[str, Any]:
        """Say how the population came about."""
        data, objective = data_of(trainer), module.objective
        return {
            "method": {
                "name": type(objective).__name__,
                "label": objective.label,
                "settings": objective.settings(),
            },
            "seed": data.seed,
            "steps": module.env_steps,
            "finished": module.env_steps >= data.planned_steps(trainer.world_size),
        }
