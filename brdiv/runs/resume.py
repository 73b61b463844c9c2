"""Resuming a run that was stopped: from which checkpoint, and does it fit."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from brdiv.errors import UserError
from brdiv.runs.description import is_whole
from brdiv.runs.folder import RunFolder
from brdiv.runs.unpack import UnpackError, unpack
from brdiv.text import plain

ENTRIES: dict[str, Callable[[Any], bool]] = {
    "env_steps": lambda value: is_whole(value, 1),
    "global_step": lambda value: is_whole(value, 1),
    "epoch": lambda value: is_whole(value, 0, 1),
    "state_dict": lambda value: isinstance(value, dict) and all(map(is_named_tensor, value.items())),
    "loops": lambda value: isinstance(value, dict) and isinstance(value.get("fit_loop"), dict),
    "optimizer_states": lambda value: isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict),
    "lr_schedulers": lambda value: isinstance(value, list) and all(isinstance(entry, dict) for entry in value),
    "callbacks": lambda value: isinstance(value, dict),
    "pytorch-lightning_version": lambda value: isinstance(value, str) and re.fullmatch(VERSION, value) is not None,
}
"""What a checkpoint must have, and what each of it may be."""
VERSION = r"\d+\.\d+(\.\d+)?([a-z]+\d*|\.[a-z]+\d*)?(\+[\w.]+)?"


def is_named_tensor(entry: tuple[Any, Any]) -> bool:
    """Whether an entry of a dictionary is a tensor with a name."""
    return isinstance(entry[0], str) and isinstance(entry[1], torch.Tensor)


class CheckpointFileError(UserError):
    """A checkpoint can't be used; the message says why in one line."""


def checkpoints_to_resume(wanted: str, run: Path | None, default: Path) -> dict[Path, tuple[int, int, int]]:
    """List the files among which `find_checkpoint` would look, each with what changes when it is written anew."""
    folder = RunFolder(run) if run else RunFolder.newest(default)
    numbered = list(folder.numbered_checkpoints().values()) if folder else []
    paths = [Path(wanted)] if wanted != "last" else numbered
    found = {path: path.stat() for path in paths if path.exists()}
    return {path: (stat.st_ino, stat.st_mtime_ns, stat.st_size) for path, stat in found.items()}


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


def claim_checkpoint(wanted: str, run: Path | None, default: Path) -> tuple[Path, RunFolder, dict[str, Any]]:
    """Find the checkpoint to resume from, and become the owner of its folder; what can't be resumed is left alone."""
    seen = checkpoints_to_resume(wanted, run, default)
    found = find_checkpoint(wanted, run, default)
    found[1].lock()
    if checkpoints_to_resume(wanted, run, default) != seen:  # the owner before wrote another meanwhile
        found = find_checkpoint(wanted, run, default)
    return found


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Load a checkpoint without running any code that it may hold, and refuse what is none of a run."""
    try:
        checkpoint = unpack(path)
    except FileNotFoundError:
        raise CheckpointFileError(f"no checkpoint file {plain(path, 1000)}") from None
    except Exception as error:  # torch.load fails in a dozen ways on a damaged file
        reason = plain(" ".join(str(error).split()), 120)
        told = reason if isinstance(error, UnpackError) else f"{type(error).__name__}: {reason}"
        raise CheckpointFileError(f"{plain(path, 1000)} is not a whole checkpoint ({told})") from error
    found = checkpoint if isinstance(checkpoint, dict) else {}
    wrong = [name for name, is_right in ENTRIES.items() if not is_right(found.get(name))]
    if wrong:
        raise CheckpointFileError(f"{plain(path, 1000)} is no checkpoint of a run: it has no {', '.join(wrong)}")
    return found


def check_stream(
    checkpoint: dict[str, Any],
    path: Path,
    rows: int,
    window: int,
    processes: int,
    play_format: int,
    steps_per_window: int = 1,
) -> None:
    """Refuse a checkpoint of other rows, windows or processes, or one whose counts don't agree with each other.

    The optimiser makes so many steps per window.
    """
    try:
        (stream,) = checkpoint["loops"]["fit_loop"]["state_dict"]["combined_loader"]
        ranks = stream["ranks"]
        theirs = (ranks[0]["rows"], ranks[0]["window"], len(ranks))
        their_format = ranks[0].get("play", {"format": play_format})["format"]
        given = [rank["given"] for rank in ranks]
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise CheckpointFileError(f"{path} doesn't say where its environments stood") from None
    if type(their_format) is not int or their_format != play_format:
        raise CheckpointFileError(f"{path} was written by another version, which kept environments otherwise")
    names = ("rows per process", "steps per window", "processes")
    for name, there, here in zip(names, theirs, (rows, window, processes), strict=True):
        if type(there) is not int or there != here:
            told = plain(there, 30)
            raise CheckpointFileError(f"{path} does not fit this run: {told} {name} there and {here} here")
    steps = rows * window * processes
    updates, rest = divmod(checkpoint["env_steps"], steps)
    too_many = checkpoint["global_step"] > updates * steps_per_window
    if rest or too_many or any(type(count) is not int or count != updates for count in given):
        raise CheckpointFileError(f"{path} is damaged: what it says of how far the run was does not agree")


def check_made_with(checkpoint: dict[str, Any], ours: dict[str, Any], path: Path) -> None:
    """Refuse a checkpoint of another game, method or split of rows, naming what differs."""
    theirs = checkpoint.get("made_with")
    if not isinstance(theirs, dict):
        raise CheckpointFileError(f"{path} doesn't say what it was made with; it is of an earlier version")
    for name, here in ours.items():
        there = theirs.get(name)
        if not isinstance(there, str) or there != here:
            told = plain(there, 300) if isinstance(there, str | None) else f"a {type(there).__name__}"
            raise CheckpointFileError(f"{path} does not fit this run: {name} {told} there and {here} here")


def check_fits(checkpoint: dict[str, Any], module: nn.Module, path: Path) -> None:
    """Refuse weights of another game, population or method, and those that are no numbers, before they are loaded."""
    ours, theirs = module.state_dict(), checkpoint["state_dict"]
    for name in sorted(ours.keys() | theirs.keys()):
        kinds = [describe_tensor(weights.get(name)) for weights in (theirs, ours)]
        if kinds[0] != kinds[1]:
            told = plain(name, 60)
            raise CheckpointFileError(f"{path} does not fit this run: {told} is {kinds[0]} there and {kinds[1]} here")
        if not theirs[name].isfinite().all():
            raise CheckpointFileError(f"{path} is damaged: {name} has numbers that are not finite")


def describe_tensor(tensor: torch.Tensor | None) -> str:
    """Write a tensor's shape, and its type where that is not the usual one."""
    if tensor is None:
        return "nothing"
    shape = str(tuple(tensor.shape))
    return shape if tensor.dtype is torch.float32 else f"{shape} of {str(tensor.dtype).removeprefix('torch.')}"
