"""Export of the population: the file that outlives the run."""

from pathlib import Path

from lightning import Callback, Trainer
from lightning.pytorch.utilities import rank_zero_only

from brdiv.module import TeammateGenerator
from brdiv.populations import save_population


class PopulationExport(Callback):
    """Writes `population.safetensors` when training ends, and also when it is cut short by an error.

    Args:
        name: File name inside the run's folder.

    """

    def __init__(self, name: str = "population.safetensors") -> None:
        self.name = name

    @rank_zero_only
    def on_train_end(self, trainer: Trainer, module: TeammateGenerator) -> None:
        """Export the finished population."""
        self.export(trainer, module, finished=True)

    @rank_zero_only
    def on_exception(self, trainer: Trainer, module: TeammateGenerator, exception: BaseException) -> None:
        """Save what there is."""
        if module.env_steps > 0:
            self.export(trainer, module, finished=False)

    def export(self, trainer: Trainer, module: TeammateGenerator, finished: bool) -> None:
        """Write the file, with how it was made."""
        if trainer.log_dir is None:
            return
        data, objective = trainer.datamodule, module.objective  # type: ignore[attr-defined]
        about = {
            "method": {"name": type(objective).__name__, "settings": objective.settings()},
            "seed": data.seed,
            "steps": module.env_steps,
            "finished": finished,
        }
        save_population(Path(trainer.log_dir, self.name), module.population, data.game, about)
