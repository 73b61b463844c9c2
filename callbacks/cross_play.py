"""The cross-play matrix while a population trains: measured by play, drawn, and written down."""

import csv
from pathlib import Path

import torch
from lightning import Callback, Trainer
from torch import Tensor

from brdiv.metrics import best_response_diversity, mean_diagonal, mean_off_diagonal
from brdiv.module import TeammateGenerator
from brdiv.play import Episodes, cross_play
from brdiv.plots import cross_play_heatmap
from brdiv.tables import print_cross_play

from .due import Due, check_least, log_picture

FIELDS = ("step", "teammate", "best_response", "mean_return", "mean_length", "episodes")


class CrossPlay(Callback):
    """Plays all K x K pairs every so often and at the end.

    Writes TensorBoard images and scalars, `cross_play.csv`, and at the end `cross_play.png`.

    Args:
        every: Environment steps between two measurements; 0 measures at the end only.
        episodes: Episodes of each pair.
        final_episodes: Episodes of each pair at the end of the run.

    """

    def __init__(self, every: int = 250_000, episodes: int = 32, final_episodes: int = 256) -> None:
        check_least("cross_play", every=(every, 0), episodes=(episodes, 1), final_episodes=(final_episodes, 1))
        self.episodes = episodes
        self.final_episodes = final_episodes
        self.due = Due(every)
        self.latest: tuple[int, float] | None = None  # step and BRDiv of the last measurement; NaN on other ranks

    def on_train_start(self, trainer: Trainer, module: TeammateGenerator) -> None:
        """Go on after the step of a continued run; what was written after it will be measured anew."""
        self.due.start_from(module.env_steps)
        folder = trainer.log_dir
        if module.env_steps and folder is not None and trainer.is_global_zero:
            drop_rows(Path(folder, "cross_play.csv"), after=module.env_steps)

    def on_train_batch_end(self, trainer: Trainer, module: TeammateGenerator, *_: object) -> None:
        """Measure when due."""
        if self.due.reached(module.env_steps):
            self.due.start_from(module.env_steps)
            self.measure(trainer, module, self.episodes)

    def on_train_end(self, trainer: Trainer, module: TeammateGenerator) -> None:
        """Measure the finished population once more, with more episodes, and show it."""
        folder = trainer.log_dir
        matrix = self.measure(trainer, module, self.final_episodes)
        if matrix is None:
            return
        if folder is not None:
            title = f"{type(trainer.datamodule.game).__name__}, {module.env_steps:,} steps"  # type: ignore[attr-defined]
            cross_play_heatmap(matrix, title).savefig(Path(folder, "cross_play.png"), dpi=150)
        print_cross_play(matrix)

    def measure(self, trainer: Trainer, module: TeammateGenerator, episodes: int) -> Tensor | None:
        """Play every pair and record the mean returns, which are given back as ``[K, K]``, on the first rank alone.

        The generator is made here from the step alone: measuring more or less often must not change the training.
        """
        folder = trainer.log_dir  # asked on all ranks: they agree on it together
        self.latest = module.env_steps, float("nan")
        if not trainer.is_global_zero:
            return None
        generator = torch.Generator(module.device).manual_seed(module.env_steps)
        played = cross_play(trainer.datamodule.game, module.population, module.population.n_types, episodes, generator)  # type: ignore[attr-defined]
        matrix = played.returns.mean(-1)
        own_lengths = played.lengths.diagonal().float()
        module.write(
            {
                "cross_play/mean_diagonal": mean_diagonal(matrix),
                "cross_play/mean_off_diagonal": mean_off_diagonal(matrix),
                "cross_play/brdiv": best_response_diversity(matrix),
                "cross_play/self_play_length": own_lengths.mean(),
            }
        )
        self.latest = module.env_steps, float(best_response_diversity(matrix))
        log_picture(trainer, module, "cross_play", cross_play_heatmap(matrix, f"{module.env_steps:,} steps"))
        if folder is not None:
            append_rows(Path(folder, "cross_play.csv"), module.env_steps, played)
        return matrix


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
    """Add one line a pair to a tidy CSV file; ids are counted from 1, as in the paper."""
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
