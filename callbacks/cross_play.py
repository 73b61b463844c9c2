"""The cross-play matrix while a population trains: measured by play, drawn, and written down."""

import csv
from pathlib import Path
from typing import NamedTuple

import torch
from lightning import Callback, Trainer
from torch import Tensor

from brdiv.evaluation.tables import print_cross_play
from brdiv.figures import cross_play_heatmap
from brdiv.metrics import best_response_diversity, mean_diagonal, mean_off_diagonal
from brdiv.teamwork import Episodes, both_seats, cross_play
from brdiv.training import TeammateGenerator
from brdiv.training.room import check_room

from .every import EverySteps, check_least
from .watched import data_of, folder_of, log_picture

EARLY = 0.05  # share of a run after which there is a first matrix
FIELDS = ("step", "teammate", "best_response", "mean_return", "mean_length", "episodes")


class Measured(NamedTuple):
    """What a measurement came to."""

    step: int
    diagonal: float
    off_diagonal: float
    brdiv: float


class CrossPlay(Callback):
    """Plays all K x K pairs after 5 % of the run, every so often, and at the end.

    Writes TensorBoard images and scalars, `cross_play.csv`, and at the end `cross_play.png`.

    Args:
        every: Environment steps between two measurements; 0 measures after 5 % of the run and at its end only.
        episodes: Number of episodes of each pair.
        final_episodes: Number of episodes of each pair at the end of the run.

    """

    def __init__(self, every: int = 250_000, episodes: int = 32, final_episodes: int = 256) -> None:
        check_least("cross_play", every=(every, 0), episodes=(episodes, 1), final_episodes=(final_episodes, 1))
        self.episodes = episodes
        self.final_episodes = final_episodes
        self.times = EverySteps(every)
        self.latest: Measured | None = None

    def setup(self, trainer: Trainer, module: TeammateGenerator, stage: str) -> None:
        """Refuse what can't be measured, before anything is done."""
        self.check_room(module)

    def check_room(self, module: TeammateGenerator) -> None:
        """Refuse more episodes than the machine has room for."""
        most = max(self.episodes, self.final_episodes)
        check_room(3 * module.population.n_types**2 * most, f"cross_play with {most} episodes of each pair")

    def on_train_start(self, trainer: Trainer, module: TeammateGenerator) -> None:
        """Count from the step of a resumed run; what was written after it will be measured anew."""
        self.times.start_from(module.env_steps, EARLY * data_of(trainer).planned_steps(trainer.world_size))
        folder = folder_of(trainer)
        if module.env_steps and folder is not None:
            drop_rows(folder.cross_play_table, after=module.env_steps)

    def on_train_batch_end(self, trainer: Trainer, module: TeammateGenerator, *_: object) -> None:
        """Measure when it is time, and let whoever would stop a run early look at the result."""
        if self.times.reached(module.env_steps):
            self.times.start_from(module.env_steps)
            self.measure(trainer, module, self.episodes)
            for callback in trainer.early_stopping_callbacks:
                # A run is one epoch, so Lightning itself would not ask before its end; one of the two looks.
                callback.on_train_epoch_end(trainer, module)
                callback.on_validation_end(trainer, module)

    def on_train_end(self, trainer: Trainer, module: TeammateGenerator) -> None:
        """Measure the finished population once more, with more episodes, and show it."""
        matrix = self.measure(trainer, module, self.final_episodes, monitored=False)
        if matrix is None:
            return
        folder = folder_of(trainer)
        if folder is not None:
            title = f"{type(data_of(trainer).game).__name__}, {module.env_steps:,} steps"
            cross_play_heatmap(matrix, title).savefig(folder.cross_play_picture, dpi=150)
        print_cross_play(matrix)

    def measure(
        self, trainer: Trainer, module: TeammateGenerator, episodes: int, monitored: bool = True
    ) -> Tensor | None:
        """Play every pair and report the mean returns, which are given back as ``[K, K]``, on the first rank alone.

        The generator is made here from the step alone: measuring more or less often must not change the training.
        """
        played = None
        if trainer.is_global_zero:
            generator = torch.Generator(module.device).manual_seed(module.env_steps)
            played = cross_play(data_of(trainer).game, *both_seats(module.population), episodes, generator)
        # All ranks hear of it, so that those who monitor it decide alike.
        metrics = trainer.strategy.broadcast({} if played is None else summarise(played))
        found = (metrics[f"cross_play/{name}"] for name in ("mean_diagonal", "mean_off_diagonal", "brdiv"))
        self.latest = Measured(module.env_steps, *found)
        module.report(metrics, monitored)
        if played is None:
            return None
        matrix = played.returns.mean(-1)
        log_picture(trainer, module, "cross_play", cross_play_heatmap(matrix, f"{module.env_steps:,} steps"))
        folder = folder_of(trainer)
        if folder is not None:
            append_rows(folder.cross_play_table, module.env_steps, played)
        return matrix


def summarise(played: Episodes) -> dict[str, float]:
    """Name what a matrix of episodes ``[K, K, episodes]`` amounts to."""
    matrix = played.returns.mean(-1)
    return {
        "cross_play/mean_diagonal": float(mean_diagonal(matrix)),
        "cross_play/mean_off_diagonal": float(mean_off_diagonal(matrix)),
        "cross_play/brdiv": float(best_response_diversity(matrix)),
        "cross_play/self_play_length": float(played.lengths.diagonal().float().mean()),
        **{f"diagonal/team_{k}": value for k, value in enumerate(matrix.diagonal().tolist(), 1)},
    }


def drop_rows(path: Path, after: int) -> None:
    """Remove what a CSV file says of steps beyond ``after``, and lines that are damaged."""
    if not path.exists():
        return
    with path.open(newline="", errors="replace") as file:
        rows = [line.rstrip("\r\n").split(",") for line in file]
    whole = [row for row in rows if len(row) == len(FIELDS) and row[0].isdecimal()]
    kept = [FIELDS, *(row for row in whole if int(row[0]) <= after)]
    part = path.with_suffix(".part")
    with part.open("w", newline="") as file:
        csv.writer(file).writerows(kept)
    part.replace(path)


def append_rows(path: Path, step: int, played: Episodes) -> None:
    """Add one line per pair to a tidy CSV file; ids are counted from 1, as in the paper."""
    path.parent.mkdir(parents=True, exist_ok=True)
    returns, lengths = played.returns.mean(-1).tolist(), played.lengths.float().mean(-1).tolist()
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if new:
            writer.writerow(FIELDS)
        for i, row in enumerate(returns):
            for j, value in enumerate(row):
                cells = step, i + 1, j + 1, f"{value:.6g}", f"{lengths[i][j]:.6g}", played.returns.shape[-1]
                writer.writerow(cells)
