"""What becomes of a learner while it trains: measured with each of its teammates, and written down in the end."""

from typing import Any

import torch
from lightning import Callback, Trainer

from brdiv.doors.teammates import Teammates, find_teammates
from brdiv.errors import UserError
from brdiv.figures import evaluation_heatmap
from brdiv.games import Playable
from brdiv.learners import LearnerData, LearnerModule
from brdiv.learners.data import populations_of
from brdiv.learners.measuring import returns_with_each
from brdiv.runs import save_learner
from brdiv.runs.learner_file import describe
from brdiv.runs.lock import FolderGoneError
from brdiv.training import NotFiniteError
from brdiv.training.room import check_room

from .every import EverySteps, check_least
from .watched import folder_of, log_picture, say_with, stream_of


def learner_data(trainer: Trainer) -> LearnerData:
    """Return the data module that a learner trains with."""
    data = stream_of(trainer)
    assert isinstance(data, LearnerData), "these callbacks watch runs on LearnerData"
    return data


TOLD = {"learner/mean_return": "mean return", "validation/mean_return": "with validation strangers"}


class LearnerEvaluation(Callback):
    """Lets the learner of the moment play with each of its teammates, every so often and at the end.

    Args:
        every: Environment steps between two measurements; 0 measures at the end only.
        episodes: Number of episodes with each teammate.
        final_episodes: Number of episodes with each teammate at the end of the run.
        validation: Strangers to tune by, population files of other seeds; what is reported in tables, heuristics and
            teams of seeds that are held out, must not be among them.

    """

    def __init__(
        self,
        every: int = 500_000,
        episodes: int = 32,
        final_episodes: int = 256,
        validation: list[str] = [],  # noqa: B006
    ) -> None:
        check_least("evaluation", every=(every, 0), episodes=(episodes, 1), final_episodes=(final_episodes, 1))
        self.episodes = episodes
        self.final_episodes = final_episodes
        self.times = EverySteps(every)
        self.latest = ""
        self.validation = list(validation)
        self.strangers: Teammates | None = None

    def on_train_start(self, trainer: Trainer, module: LearnerModule) -> None:
        """Count from the step of a resumed run."""
        self.check_room(learner_data(trainer))
        self.times.start_from(module.env_steps)
        self.look_up(learner_data(trainer))

    def check_room(self, data: LearnerData) -> None:
        """Refuse to measure more than this machine can hold."""
        most = max(self.episodes, self.final_episodes)
        check_room(3 * most * len(data.found.names), f"evaluation with {most} episodes")

    def look_up(self, data: LearnerData) -> None:
        """Find the strangers to tune by, or refuse them."""
        if self.validation and self.strangers is None:
            self.strangers = validation_strangers(self.validation, data)

    def on_train_batch_end(self, trainer: Trainer, module: LearnerModule, *_: object) -> None:
        """Measure when it is time."""
        if self.times.reached(module.env_steps):
            self.times.start_from(module.env_steps)
            self.measure(trainer, module, self.episodes)

    def on_train_end(self, trainer: Trainer, module: LearnerModule) -> None:
        """Measure the finished learner once more, with more episodes, and show it."""
        returns = self.measure(trainer, module, self.final_episodes, monitored=False)
        for name, value in returns.items():
            print(f"{value:>7.3f}  with {name}")
        if returns:
            strangers = f"; {self.latest}" if self.strangers is not None else ""
            print(f"{sum(returns.values()) / len(returns):>7.3f}  mean over {len(returns)} teammates{strangers}")

    def measure(
        self, trainer: Trainer, module: LearnerModule, episodes: int, monitored: bool = True
    ) -> dict[str, float]:
        """Play on the first rank, and report mean returns by teammate, which are given back there alone.

        The generator is made from the step: measuring more or less often must not change the training.
        """
        returns: dict[str, float] = {}
        metrics: dict[str, float] = {}
        if trainer.is_global_zero:
            generator = torch.Generator(module.device).manual_seed(module.env_steps)
            returns = returns_with_each(module.net, learner_data(trainer).found, episodes, generator)
            metrics = {f"learner/{name}": value for name, value in returns.items()}
            metrics["learner/mean_return"] = sum(returns.values()) / len(returns)
            cells = [[(value, float("nan"), float("nan"))] for value in returns.values()]
            title = f"{module.env_steps:,} steps"
            heatmap = evaluation_heatmap([module.method.label], list(returns), cells, title)
            log_picture(trainer, module, "learner", heatmap)
            if self.strangers is not None:
                found = returns_with_each(module.net, self.strangers, episodes, generator)
                metrics["validation/mean_return"] = sum(found.values()) / len(found)
        # All ranks hear of it, so that those who monitor it decide alike.
        metrics = trainer.strategy.broadcast(metrics)
        self.latest = ", ".join(f"{told} {metrics[key]:.3f}" for key, told in TOLD.items() if key in metrics)
        module.report(metrics, monitored)
        return returns


def heuristic_names(game: Playable) -> list[str]:
    """Names of a game's scripted teammates."""
    heuristics = game.heuristics()
    return [] if heuristics is None else list(heuristics.names)


def validation_strangers(names: list[str], data: LearnerData) -> Teammates:
    """Look up strangers to tune by: generated teammates whom the learner is not trained with."""
    found = find_teammates(names, data.game)
    ours = populations_of(found)
    if any(name in found.names for name in heuristic_names(data.game)):
        raise UserError("evaluation.validation: heuristics are for tables; tune by population files of other seeds")
    if set(ours) & set(data.populations()):
        raise UserError("evaluation.validation: the learner is trained with some of these; give other seeds")
    return found


class LearnerExport(Callback):
    """Writes the learner's file when training ends, and also when an error interrupts it."""

    def on_train_start(self, trainer: Trainer, module: LearnerModule) -> None:
        """Make sure that what there is to say can be written, before hours of training."""
        describe(module.net, learner_data(trainer).game, self.about(trainer, module))

    def on_train_end(self, trainer: Trainer, module: LearnerModule) -> None:
        """Export the trained learner."""
        self.export(trainer, module)

    def on_exception(self, trainer: Trainer, module: LearnerModule, exception: BaseException) -> None:
        """Save what there is. Other ranks may be gone, so nothing is asked of them."""
        useless = isinstance(exception, NotFiniteError | FolderGoneError)
        if module.env_steps > 0 and trainer.world_size == 1 and not useless:
            try:
                self.export(trainer, module)
            except OSError as error:  # must not hide why the run ended
                say_with(exception, f"the learner could not be written: {error.strerror or error}")

    def export(self, trainer: Trainer, module: LearnerModule) -> None:
        """Write the file, with how it was made."""
        folder = folder_of(trainer)
        if folder is not None:
            save_learner(folder.learner, module.net, learner_data(trainer).game, self.about(trainer, module))

    @staticmethod
    def about(trainer: Trainer, module: LearnerModule) -> dict[str, Any]:
        """Say how the learner came about."""
        data, method = learner_data(trainer), module.method
        return {
            "method": {"name": type(method).__name__, "label": method.label, "settings": method.settings()},
            "teammates": data.found.names,
            "populations": data.populations(),
            "prepared_with": data.sources(),
            "validation": validated_with(trainer),
            "seed": data.seed,
            "steps": module.env_steps,
            "finished": module.env_steps >= data.planned_steps(trainer.world_size),
        }


def validated_with(trainer: Trainer) -> list[str]:
    """Checksums of the populations that the run is tuned by."""
    watching = [c for c in trainer.callbacks if isinstance(c, LearnerEvaluation)]  # type: ignore[attr-defined]
    return [found for c in watching if c.strangers is not None for found in populations_of(c.strangers)]
