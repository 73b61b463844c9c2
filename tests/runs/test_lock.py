import errno
import fcntl
import io
import multiprocessing
import os
import shutil
import time
from pathlib import Path

import pytest

from brdiv.errors import UserError
from brdiv.runs import RunFolder
from brdiv.runs.lock import (
    HELD,
    NAME,
    FolderGoneError,
    FolderInUseError,
    check_there,
    lock_folder,
    unlock_all,
    unlock_folder,
)
from tests.processes import forked


def hold(folder, ready):
    lock_folder(folder)
    ready.set()
    time.sleep(600)


@pytest.fixture
def other(tmp_path):
    """Another process, which owns the folder."""
    ready = multiprocessing.get_context("fork").Event()
    process = forked(hold, tmp_path, ready)
    assert ready.wait(60)
    yield process
    process.kill()
    process.join()


def test_a_folder_has_one_owner_until_that_is_killed(other, tmp_path):
    with pytest.raises(FolderInUseError, match=f"in use by another run .process {other.pid} on "):
        RunFolder(tmp_path).lock()
    other.kill()
    other.join()
    RunFolder(tmp_path).lock()
    unlock_folder(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_run_that_is_refused_touches_nothing(other, tmp_path):
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "step_000000000256.part").write_bytes(b"being written")
    before = (tmp_path / NAME).read_text()
    with pytest.raises(FolderInUseError):
        RunFolder(tmp_path).lock()
    assert (tmp_path / "checkpoints" / "step_000000000256.part").exists()
    assert (tmp_path / NAME).read_text() == before


def test_two_runs_never_share_a_wanted_folder(other, tmp_path):
    with pytest.raises(UserError, match="in use"):
        RunFolder.claim(tmp_path, tmp_path)


def test_an_owner_may_lock_again_and_lets_go_once(tmp_path):
    lock_folder(tmp_path)
    lock_folder(tmp_path)
    assert (tmp_path / NAME).exists()
    unlock_folder(tmp_path)
    assert not (tmp_path / NAME).exists()
    unlock_folder(tmp_path)


def test_what_a_kill_left_half_written_is_removed_by_the_next_owner(tmp_path):
    (tmp_path / "checkpoints").mkdir()
    left = [tmp_path / "checkpoints" / "step_1.part", tmp_path / "checkpoints" / ".step_1.part.part"]
    left += [tmp_path / "cross_play.part", tmp_path / ".population.safetensors.123"]
    kept = [tmp_path / "checkpoints" / "step_000000000256.ckpt", tmp_path / "cross_play.csv"]
    for path in left + kept:
        path.write_bytes(b"x")
    RunFolder(tmp_path).lock()
    unlock_folder(tmp_path)
    assert not any(path.exists() for path in left)
    assert all(path.exists() for path in kept)


@pytest.mark.parametrize("made_anew", [False, True])
@pytest.mark.parametrize("by_a_link", [False, True])
def test_a_folder_that_is_removed_or_replaced_is_told(made_anew, by_a_link, tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "runs").symlink_to("disk")
    folder = tmp_path / ("runs" if by_a_link else "disk") / "run"
    folder.mkdir()
    lock_folder(folder)
    check_there(folder)
    shutil.move(folder, tmp_path / "elsewhere")
    if made_anew:
        folder.mkdir()
    with pytest.raises(FolderGoneError, match="was removed or renamed"):
        check_there(folder)
    unlock_folder(folder)


def test_a_folder_that_nobody_locked_is_not_looked_at(tmp_path):
    check_there(tmp_path / "nowhere")


def test_a_lock_that_its_owner_removes_at_that_moment_is_made_anew(tmp_path, monkeypatch):
    flock, taken = fcntl.flock, []

    def late(file, how):
        if not taken:
            (tmp_path / NAME).unlink()
        taken.append(file)
        flock(file, how)

    monkeypatch.setattr(fcntl, "flock", late)
    lock_folder(tmp_path)
    assert len(taken) == 2
    assert (tmp_path / NAME).read_text().startswith("process ")
    unlock_folder(tmp_path)


def test_a_lock_of_somebody_else_is_not_removed(tmp_path):
    lock_folder(tmp_path)
    (tmp_path / NAME).unlink()
    (tmp_path / NAME).write_text("process 1 on another machine")
    unlock_folder(tmp_path)
    assert (tmp_path / NAME).read_text() == "process 1 on another machine"


def test_a_file_system_without_locks_is_used_without_one(tmp_path, monkeypatch):
    def unable(file, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unable)
    lock_folder(tmp_path)
    assert tmp_path.resolve() not in HELD
    assert not list(tmp_path.iterdir())


def test_a_folder_that_takes_no_files_is_refused_in_one_line():
    with pytest.raises(UserError, match="run folder /proc/self can't be written to: "):
        lock_folder(Path("/proc/self"))


def test_whoever_comes_after_a_kill_is_named_alone(tmp_path):
    (tmp_path / NAME).write_text("process 1 on a machine that was switched off, with a long name\n")
    lock_folder(tmp_path)
    assert (tmp_path / NAME).read_text().startswith(f"process {os.getpid()} on ")
    assert len((tmp_path / NAME).read_text().splitlines()) == 1
    unlock_folder(tmp_path)


def test_a_lock_that_was_taken_through_a_link_is_released_without_it(tmp_path):
    (tmp_path / "disk").mkdir()
    link = tmp_path / "link"
    link.symlink_to("disk")
    lock_folder(link)
    link.unlink()
    unlock_folder(link)
    assert (tmp_path / "disk").resolve() not in HELD
    assert not list((tmp_path / "disk").iterdir())


def test_a_folder_that_a_run_is_given_is_locked_and_given_back_if_the_run_never_began(tmp_path):
    folder = RunFolder.claim(None, tmp_path / "run")
    assert (folder.path / NAME).exists()
    folder.give_up()
    assert folder.path.resolve() not in HELD
    assert not folder.path.exists()


@pytest.mark.parametrize("wanted", [True, False])
def test_a_disk_without_room_for_a_lock_is_told_in_one_line_and_nothing_is_left(wanted, tmp_path, monkeypatch):
    class FullFile(io.StringIO):
        def flush(self):
            raise OSError(errno.ENOSPC, "No space left on device")

    def opened(path, mode):
        path.touch()
        return FullFile()

    monkeypatch.setattr(Path, "open", opened)
    monkeypatch.setattr(fcntl, "flock", lambda *_: None)
    monkeypatch.setattr("brdiv.runs.lock.is_still", lambda *_: True)
    run = tmp_path / "run"
    with pytest.raises(UserError, match="can't be written to: No space left on device"):
        RunFolder.claim(run if wanted else None, run)
    assert not run.exists()
    assert run not in HELD


def test_at_the_end_empty_folders_go_and_others_stay(tmp_path):
    empty, used = tmp_path / "empty", tmp_path / "used"
    for folder in (empty, used):
        folder.mkdir()
        lock_folder(folder)
    (used / "config.yaml").touch()
    unlock_all()
    assert not empty.exists()
    assert [path.name for path in used.iterdir()] == ["config.yaml"]
    assert not HELD
