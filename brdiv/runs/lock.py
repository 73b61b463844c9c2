"""One owner at a time: the lock of a run's folder, which the system releases when its process ends, however that is."""

import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import IO

from brdiv.errors import UserError
from brdiv.text import plain

try:
    import fcntl
except ImportError:  # not on Windows, where nothing is locked
    fcntl = None  # type: ignore[assignment]

NAME = ".lock"
HELD: dict[Path, tuple[IO[str], tuple[int, int]]] = {}
"""The lock files that this process keeps open, and which folders they are of, by their real paths."""
REAL: dict[Path, Path] = {}
"""The real paths of these folders by those that they were locked under, which may lead through links."""


class FolderInUseError(UserError):
    """Another process writes to the folder."""


class FolderGoneError(UserError, OSError):
    """The folder was removed or renamed while a run wrote to it."""


def lock_folder(folder: Path) -> None:
    """Become the owner of a folder until this process ends or lets go, or refuse; taking it twice is no mistake."""
    if fcntl is None:
        return
    path = REAL[folder.absolute()] = folder.resolve()
    if path in HELD:
        return
    while True:
        try:
            file = (path / NAME).open("a+")
        except OSError as error:
            told = error.strerror or error
            raise UserError(f"run folder {plain(folder, 1000)} can't be written to: {told}") from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderInUseError(in_use(folder, file)) from None
        except OSError:  # a file system that knows no locks: better a run without one than none
            file.close()
            (path / NAME).unlink(missing_ok=True)
            return
        if is_still(file, path / NAME):
            break
        file.close()  # an owner that let go removed it just now
    try:
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        file.flush()
    except OSError as error:  # a disk that has room for a name, but for nothing in it
        (path / NAME).unlink()
        with suppress(OSError):
            file.close()
        raise UserError(f"run folder {plain(folder, 1000)} can't be written to: {error.strerror}") from None
    HELD[path] = file, identity(path)


def in_use(folder: Path, file: IO[str]) -> str:
    """Say who has a folder."""
    with file:
        file.seek(0)
        owner = plain(file.read(100).strip(), 60)
    told = f"run folder {plain(folder, 1000)} is in use by another run"
    return f"{told} ({owner})" if owner else told


def is_still(file: IO[str], path: Path) -> bool:
    """Whether an open file is the one that has the name."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False


def unlock_folder(folder: Path) -> None:
    """Let go of a folder, and leave nothing of the lock behind."""
    path = REAL.pop(folder.absolute(), folder.resolve())
    held = HELD.pop(path, None)
    if held is not None:
        if is_still(held[0], path / NAME):
            (path / NAME).unlink()
        held[0].close()


def unlock_all() -> None:
    """Let go of everything at the end of a run; a folder to which nothing was written goes, too."""
    for path in list(HELD):
        unlock_folder(path)
        with suppress(OSError):
            path.rmdir()


def identity(path: Path) -> tuple[int, int]:
    """Tell a folder from another of the same name."""
    found = path.stat()
    return found.st_dev, found.st_ino


def check_there(folder: Path) -> None:
    """Refuse to write to a folder that is no longer the one that was locked: it would be made anew, and half empty."""
    held = HELD.get(REAL.get(folder.absolute(), folder))
    if held is None:
        return
    try:
        same = identity(folder) == held[1]
    except OSError:
        same = False
    if not same:
        raise FolderGoneError(f"run folder {plain(folder, 1000)} is gone: it was removed or renamed during the run")
