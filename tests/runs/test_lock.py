import shutil
import signal
import subprocess
import sys

import pytest

from brdiv.errors import UserError
from brdiv.runs import RunFolder
from brdiv.runs.lock import FolderGoneError, FolderInUseError, check_there, lock_folder, unlock_folder

HOLD = """
import sys
from pathlib import Path
from brdiv.runs.lock import lock_folder
lock_folder(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def another_owner(folder):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    return process


def test_a_folder_has_one_owner_until_that_is_killed(tmp_path):
    other = another_owner(tmp_path)
    with pytest.raises(FolderInUseError, match=f"in use by another run .process {other.pid} on "):
        RunFolder(tmp_path).lock()
    other.send_signal(signal.SIGKILL)
    other.communicate()
    RunFolder(tmp_path).lock()
    unlock_folder(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_run_that_is_refused_touches_nothing(tmp_path):
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "step_000000000256.part").write_bytes(b"being written")
    other = another_owner(tmp_path)
    try:
        with pytest.raises(FolderInUseError):
            RunFolder(tmp_path).lock()
        assert (tmp_path / "checkpoints" / "step_000000000256.part").exists()
    finally:
        other.kill()
        other.communicate()


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
def test_a_folder_that_is_removed_or_replaced_is_told(made_anew, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    lock_folder(folder)
    check_there(folder)
    shutil.move(folder, tmp_path / "elsewhere")
    if made_anew:
        folder.mkdir()
    with pytest.raises(FolderGoneError, match="was removed or renamed"):
        check_there(folder)
    unlock_folder(folder)


def test_two_runs_never_share_a_wanted_folder(tmp_path):
    other = another_owner(tmp_path)
    try:
        with pytest.raises(UserError, match="in use"):
            RunFolder.claim(tmp_path, tmp_path)
    finally:
        other.kill()
        other.communicate()
