"""Resuming a run that was stopped: from which checkpoint, and does it fit."""

import zipfile
from pathlib import Path
from typing import Any

import torch
from torch import nn

from brdiv.errors import UserError
from brdiv.runs.folder import RunFolder


class CheckpointFileError(UserError):
    """A checkpoint can't be used; the message says why in one line."""


def find_checkpoint(wanted: str, run: Path | None, default: Path) -> tuple[Path, RunFolder, dict[str, Any]]:
    """Find the checkpoint to resume from, the folder of its run, and read it.

    ``wanted`` is a file, or `last` for the newest whole one of the folder ``run``; without that, of the newest folder
    named like ``default``.
    """
    if wanted != "last":
        path = Path(wanted)
        if not path.is_file():
            raise CheckpointFileError(f"no checkpoint file {path}")
        own = RunFolder.of_checkpoint(path.resolve())
        if run is not None and run.resolve() != own.path:
            raise CheckpointFileError(
                f"{path} belongs to the run in {own}, not to {run}: leave --run out, or copy the run"
            )
        return path, RunFolder(run) if run else own, read_checkpoint(path)
    folder = RunFolder(run) if run else RunFolder.newest(default)
    if folder is None or not folder.path.is_dir():
        raise CheckpointFileError(f"no run folder {folder or default} to resume")
    files = list(folder.numbered_checkpoints().values())
    if not files:
        raise CheckpointFileError(f"{folder} holds no checkpoint to resume from")
    complaints = []
    for path in reversed(files):
        try:
            return path, folder, read_checkpoint(path)
        except CheckpointFileError as error:
            complaints.append(str(error))
    raise CheckpointFileError("; ".join(complaints))


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Load a checkpoint without running any code that it may hold."""
    try:
        with zipfile.ZipFile(path) as archive:  # torch doesn't look at the checksums that it writes
            damaged = archive.testzip()
        if damaged is not None:
            raise zipfile.BadZipFile(f"{damaged} doesn't match its checksum")
        checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise CheckpointFileError(f"no checkpoint file {path}") from None
    except Exception as error:  # torch.load fails in a dozen ways on a damaged file
        reason = " ".join(str(error).split())[:120]
        raise CheckpointFileError(f"{path} is not a whole checkpoint ({type(error).__name__}: {reason})") from error
    kinds = {"env_steps": int, "state_dict": dict, "loops": dict, "optimizer_states": list}
    found = checkpoint if isinstance(checkpoint, dict) else {}
    wrong = [name for name, kind in kinds.items() if not isinstance(found.get(name), kind)]
    if wrong:
        raise CheckpointFileError(f"{path} is no checkpoint of a run: it has no {', '.join(wrong)}")
    return found


def check_stream(
    checkpoint: dict[str, Any], path: Path, rows: int, window: int, processes: int, play_format: int
) -> None:
    """Refuse a checkpoint of other rows, windows or processes: its environments would not fit."""
    try:
        (stream,) = checkpoint["loops"]["fit_loop"]["state_dict"]["combined_loader"]
        ranks = stream["ranks"]
        theirs = (ranks[0]["rows"], ranks[0]["window"], len(ranks))
        their_format = ranks[0].get("play", {"format": play_format})["format"]
    except (KeyError, TypeError, ValueError, IndexError):
        raise CheckpointFileError(f"{path} doesn't say where its environments stood") from None
    if their_format != play_format:
        raise CheckpointFileError(f"{path} was written by another version, which kept environments otherwise")
    names = ("rows per process", "steps per window", "processes")
    for name, there, here in zip(names, theirs, (rows, window, processes), strict=True):
        if there != here:
            raise CheckpointFileError(f"{path} does not fit this run: {there} {name} there and {here} here")


def check_made_with(checkpoint: dict[str, Any], ours: dict[str, Any], path: Path) -> None:
    """Refuse a checkpoint of another game, method or split of rows, naming what differs."""
    theirs = checkpoint.get("made_with")
    if not isinstance(theirs, dict):
        raise CheckpointFileError(f"{path} doesn't say what it was made with; it is of an earlier version")
    for name, here in ours.items():
        if theirs.get(name) != here:
            raise CheckpointFileError(f"{path} does not fit this run: {name} {theirs.get(name)} there and {here} here")


def check_fits(checkpoint: dict[str, Any], module: nn.Module, path: Path) -> None:
    """Refuse weights of another game, population or method before they are half loaded."""
    ours, theirs = module.state_dict(), checkpoint["state_dict"]
    for name in sorted(ours.keys() | theirs.keys()):
        shapes = [tuple(weights[name].shape) if name in weights else "nothing" for weights in (theirs, ours)]
        if shapes[0] != shapes[1]:
            raise CheckpointFileError(f"{path} does not fit this run: {name} is {shapes[0]} there and {shapes[1]} here")
