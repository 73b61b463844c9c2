"""Going on with a run that was stopped: which checkpoint, which folder."""

from pathlib import Path
from typing import Any

import torch


class CheckpointFileError(ValueError):
    """A checkpoint can't be used; the message says why in one line."""


def find_checkpoint(wanted: str, run: Path | None, default: Path) -> tuple[Path, Path]:
    """Find the checkpoint to go on from and the folder of its run.

    ``wanted`` is a file, or `last` for the newest whole one of the folder ``run``; without that, of the newest folder
    named like ``default``.
    """
    if wanted != "last":
        path = Path(wanted)
        if not path.is_file():
            raise CheckpointFileError(f"no checkpoint file {path}")
        return path, run or path.resolve().parent.parent
    folder = run or newest_folder(default)
    if folder is None or not folder.is_dir():
        raise CheckpointFileError(f"no run folder {folder or default} to go on with")
    files = sorted((folder / "checkpoints").glob("step_*.ckpt"), reverse=True)
    if not files:
        raise CheckpointFileError(f"{folder} holds no checkpoint to go on from")
    complaints = []
    for path in files:
        try:
            read_checkpoint(path)
        except CheckpointFileError as error:
            complaints.append(str(error))
        else:
            return path, folder
    raise CheckpointFileError("; ".join(complaints))


def newest_folder(default: Path) -> Path | None:
    """Find the last of the folders that runs of one name were given: name, name-2, name-3, ..."""
    found, number = None, 1
    folder = default
    while folder.is_dir():
        found, number = folder, number + 1
        folder = default.with_name(f"{default.name}-{number}")
    return found


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Load a checkpoint without running any code that it may hold."""
    try:
        checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise CheckpointFileError(f"no checkpoint file {path}") from None
    except Exception as error:  # torch.load fails in a dozen ways on a damaged file
        reason = " ".join(str(error).split())[:120]
        raise CheckpointFileError(f"{path} is not a whole checkpoint ({type(error).__name__}: {reason})") from error
    missing = {"env_steps", "state_dict", "loops", "optimizer_states"} - set(
        checkpoint if isinstance(checkpoint, dict) else ()
    )
    if missing:
        raise CheckpointFileError(f"{path} is no checkpoint of a run: it has no {', '.join(sorted(missing))}")
    return checkpoint
