"""The folder that a run writes to: what is in it under which name, whose it is, and how to find it again."""

import os
from contextlib import suppress
from pathlib import Path

from brdiv.errors import UserError
from brdiv.runs.lock import NAME, lock_folder, unlock_folder

RESUMED = "config_from_"
LEFTOVERS = ("checkpoints/*.part", "*.part", ".population.safetensors.*", ".learner.safetensors.*")
"""What is written under another name first."""


class RunFolder:
    """The folder of one run. Nobody else knows the names of what is in it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.population = self.path / "population.safetensors"
        self.learner = self.path / "learner.safetensors"
        self.cross_play_table = self.path / "cross_play.csv"
        self.cross_play_picture = self.path / "cross_play.png"
        self.checkpoints = self.path / "checkpoints"
        self.best_checkpoint = self.checkpoints / "best.ckpt"

    def __str__(self) -> str:
        return str(self.path)

    def checkpoint(self, env_steps: int) -> Path:
        """Name the checkpoint after so many environment steps."""
        return self.checkpoints / f"step_{env_steps:012}.ckpt"

    def numbered_checkpoints(self) -> dict[int, Path]:
        """List the checkpoints by their environment steps, oldest first."""
        found = {path.stem.removeprefix("step_"): path for path in self.checkpoints.glob("step_*.ckpt")}
        return {int(step): path for step, path in sorted(found.items()) if step.isdecimal()}

    @staticmethod
    def config_name(resumed_from: int = 0) -> str:
        """Name the settings of a run, or of its part from a step on."""
        return f"{RESUMED}{resumed_from}.yaml" if resumed_from else "config.yaml"

    def config_of(self, checkpoint: Path) -> Path:
        """Find the settings that a checkpoint was made with: those the run was last resumed with, or began with."""
        step = checkpoint.stem.removeprefix("step_")
        parts = [int(path.stem.removeprefix(RESUMED)) for path in self.path.glob(f"{RESUMED}*.yaml")]
        earlier = [part for part in parts if not step.isdecimal() or part <= int(step)]
        return self.path / self.config_name(max(earlier, default=0))

    def how_to_resume(self, checkpoint: Path, command: str = "fit") -> str:
        """Write the command that resumes the run from a checkpoint, with the settings that it was made with."""
        if command == "bounds":  # which is not told how to train, but what of
            return "the same command, with the same --out, resumes from there"
        which = "last" if checkpoint.name.startswith("step_") else checkpoint
        return f"resume with  brdiv {command} --config {self.config_of(checkpoint)} --run {self} --ckpt_path {which}"

    def lock(self) -> None:
        """Become the folder's owner, or refuse; then remove what a process that was killed has left half written."""
        lock_folder(self.path)
        for pattern in LEFTOVERS:
            for path in self.path.glob(pattern):
                path.unlink(missing_ok=True)

    def give_up(self) -> None:
        """Remove the folder of a run that never began, if there is nothing in it."""
        unlock_folder(self.path)
        with suppress(OSError):
            self.path.rmdir()

    @classmethod
    def of_checkpoint(cls, checkpoint: Path) -> "RunFolder":
        """Find the folder that a checkpoint belongs to."""
        return cls(checkpoint.parent.parent)

    @classmethod
    def claim(cls, wanted: Path | None, default: Path) -> "RunFolder":
        """Create a run's folder: the wanted one, which must be empty, or the next free one named like ``default``.

        Creating is atomic, so two runs that start at once never share one.
        """
        if wanted is not None:
            wanted.mkdir(parents=True, exist_ok=True)
            if any(path.name != NAME for path in wanted.iterdir()):
                raise UserError(f"run folder {wanted} exists and is not empty; choose another")
            return cls.locked(wanted)
        default.parent.mkdir(parents=True, exist_ok=True)
        number = 1
        while True:
            folder = numbered(default, number)
            try:
                folder.mkdir()
            except FileExistsError:
                number += 1
            else:
                return cls.locked(folder)

    @classmethod
    def locked(cls, path: Path) -> "RunFolder":
        """Own a folder that was made for a run, or leave nothing of it behind."""
        try:
            lock_folder(path)
        except UserError:
            with suppress(OSError):
                path.rmdir()
            raise
        return cls(path)

    @classmethod
    def newest(cls, default: Path) -> "RunFolder | None":
        """Find the last of the folders that runs of one name were given."""
        found, number = None, 1
        while numbered(default, number).is_dir():
            found, number = cls(numbered(default, number)), number + 1
        return found


def numbered(default: Path, number: int) -> Path:
    """Name the folders of runs of one name: name, name-2, name-3, ..."""
    return default if number == 1 else default.with_name(f"{default.name}-{number}")


def is_first_process() -> bool:
    """Whether this process is the only one, or the first of a run: by what Lightning, torchrun and SLURM set."""
    names = ("RANK", "LOCAL_RANK", "NODE_RANK", "GROUP_RANK", "SLURM_PROCID")
    return all(os.environ.get(name, "0") == "0" for name in names)
