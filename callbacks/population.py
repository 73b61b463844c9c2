"""Export of the population: the file that outlives the run."""

import json
import sys
from pathlib import Path
from typing import Any

from lightning import Callback, Trainer

from brdiv.module import NotFinite, TeammateGenerator
from brdiv.populations import save_population


class PopulationExport(Callback):
    """Writes `population.safetensors` when training ends, and also when it is cut short by an error.

    Args:
        name: File name inside the run's folder.

    """

    def __init__(self, name: str = "population.safetensors") -> None:
        self.name = name

    def on_train_start(self, trainer: Trainer, module: TeammateGenerator) -> None:
        """Make sure that what there is to say can be written, before hours of training."""
        json.dumps([self.about(trainer, module), trainer.datamodule.game.settings()])  # type: ignore[attr-defined]

    def on_train_end(self, trainer: Trainer, module: TeammateGenerator) -> None:
        """Export the trained population."""
        self.export(trainer, module)

    def on_exception(self, trainer: Trainer, module: TeammateGenerator, exception: BaseException) -> None:
        """Save what there is. Other ranks may be gone, so nothing is asked of them."""
        if module.env_steps > 0 and trainer.world_size == 1 and not isinstance(exception, NotFinite):
            try:
                self.export(trainer, module)
            except OSError as error:  # must not hide why the run ended
                print(f"the population could not be written: {error}", file=sys.stderr)

    def export(self, trainer: Trainer, module: TeammateGenerator) -> None:
        """Write the file, with how it was made."""
        folder = trainer.log_dir  # asked on all ranks: they agree on it together
        if folder is not None and trainer.is_global_zero:
            game = trainer.datamodule.game  # type: ignore[attr-defined]
            save_population(Path(folder, self.name), module.population, game, self.about(trainer, module))

    @staticmethod
    def about(trainer: Trainer, module: TeammateGenerator) -> dict[str, Any]:
        """Say how the population came about."""
        data, objective = trainer.datamodule, module.objective  # type: ignore[attr-defined]
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
