"""What commands refuse before any work is done."""

import os
from pathlib import Path

from brdiv.errors import UserError


def check_at_least(least: float, **settings: float) -> None:
    """Refuse numbers that are too small, by name."""
    for name, value in settings.items():
        if value < least:
            raise UserError(f"{name} is {value:g}: it must be at least {least:g}")


def check_output_folder(path: Path | None) -> None:
    """Refuse a folder that could not be written to."""
    if path is None:
        return
    if path.exists() and not path.is_dir():
        raise UserError(f"{path} is not a folder")
    there = next(parent for parent in (path, *path.absolute().parents) if parent.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise UserError(f"{path} can't be written")


def check_output(path: Path | None, endings: set[str]) -> None:
    """Refuse a file that could not be written."""
    if path is None:
        return
    if path.suffix not in endings:
        raise UserError(f"{path} ends in none of {', '.join(sorted(endings))}")
    if not path.parent.is_dir():
        raise UserError(f"{path}: there is no folder {path.parent}")
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UserError(f"{path} can't be written")
