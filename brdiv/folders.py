"""The folder that a run writes to: its name, whose it is, and how to find it again."""

import os
from pathlib import Path

CONTINUED = "config_from_"


def claim_folder(wanted: Path | None, default: Path) -> Path:
    """Create the run's folder. Creating is atomic, so two runs that start at once never share one."""
    if wanted is not None:
        if wanted.exists() and any(wanted.iterdir()):
            raise ValueError(f"run folder {wanted} exists and is not empty; choose another")
        wanted.mkdir(parents=True, exist_ok=True)
        return wanted
    default.parent.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        folder = numbered(default, number)
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            return folder


def newest_folder(default: Path) -> Path | None:
    """Find the last of the folders that runs of one name were given."""
    found, number = None, 1
    while numbered(default, number).is_dir():
        found, number = numbered(default, number), number + 1
    return found


def numbered(default: Path, number: int) -> Path:
    """Name the folders of runs of one name: name, name-2, name-3, ..."""
    return default if number == 1 else default.with_name(f"{default.name}-{number}")


def is_first_process() -> bool:
    """Whether this process is the only one, or the first of a run: by what Lightning, torchrun and SLURM set."""
    names = ("RANK", "LOCAL_RANK", "NODE_RANK", "GROUP_RANK", "SLURM_PROCID")
    return all(os.environ.get(name, "0") == "0" for name in names)


def how_to_go_on(checkpoint: Path) -> str:
    """The command that continues a run from a checkpoint, with the settings that it was made with."""
    folder = checkpoint.parent.parent
    which = "last" if checkpoint.name.startswith("step_") else checkpoint
    return f"go on with  brdiv fit --config {config_of(checkpoint)} --run {folder} --ckpt_path {which}"


def config_name(continued_from: int = 0) -> str:
    """Name the settings of a run, or of its part from a step on."""
    return f"{CONTINUED}{continued_from}.yaml" if continued_from else "config.yaml"


def config_of(checkpoint: Path) -> Path:
    """Find the settings that a checkpoint was made with: those that its run was last continued with, or began with."""
    folder, step = checkpoint.parent.parent, checkpoint.stem.removeprefix("step_")
    parts = [int(path.stem.removeprefix(CONTINUED)) for path in folder.glob(f"{CONTINUED}*.yaml")]
    earlier = [part for part in parts if not step.isdecimal() or part <= int(step)]
    return folder / config_name(max(earlier, default=0))
