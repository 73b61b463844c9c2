"""What commands refuse before any work is done."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from brdiv.errors import LARGEST_SEED, UserError
from brdiv.text import plain

MOST = 1_000_000  # of whatever is counted: what follows from it still fits into memory


def check_at_least(least: int, most: int = MOST, **settings: int) -> None:
    """Refuse numbers that are too small, or beyond all bounds, by name."""
    for name, value in settings.items():
        if value < least:
            raise UserError(f"{name} is {plain(value, 40)}: it must be at least {least}")
        if value > most:
            raise UserError(f"{name} is {plain(value, 40)}: it must be at most {most:,}")


def check_seed(seed: int) -> None:
    """Refuse what no random generator can be started with."""
    check_at_least(0, LARGEST_SEED, seed=seed)


def check_output_folder(path: Path | None) -> None:
    """Refuse a folder that could not be written to."""
    if path is None:
        return
    if path.exists() and not path.is_dir():
        raise UserError(f"{path} is not a folder")
    there = next(parent for parent in (path, *path.absolute().parents) if parent.exists())
    with writing(path), tempfile.TemporaryDirectory(dir=there):
        pass  # trying is the only way to know: permissions say nothing of file systems that take no files


def check_output(path: Path | None, endings: set[str]) -> None:
    """Refuse a file that could not be written."""
    if path is None:
        return
    if path.suffix not in endings:
        raise UserError(f"{path} ends in none of {', '.join(sorted(endings))}")
    if not path.parent.is_dir():
        raise UserError(f"{path}: there is no folder {path.parent}")
    with writing(path):
        if path.exists():
            path.open("ab").close()
        else:
            tempfile.TemporaryFile(dir=path.parent).close()


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say in one line why something could not be written, a full disk say."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{path} can't be written: {error.strerror or error}") from None
