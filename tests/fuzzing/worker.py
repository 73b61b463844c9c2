"""A process that runs brdiv's commands, one after the other, and tells how each ended and how much memory it took.

Its parent kills it if a command takes too long, and starts another.
"""

import contextlib
import io
import json
import os
import re
import select
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import NamedTuple

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
START_SECONDS = 120
LOOK = 0.25  # seconds between two looks at a command that is not done
PATIENCE = 12  # times as long as it may compute, a command may take: others may keep the machine busy


class Ended(NamedTuple):
    """How a command ended; code None means that it had to be killed."""

    code: int | None
    error: str
    traceback: str
    peak_mib: int


class Worker:
    """The parent's view of the process."""

    def __init__(self) -> None:
        self.process: subprocess.Popen | None = None
        self.done = 0

    def run(self, arguments: list[str], seconds: float) -> Ended:
        """Run a command; kill the process when it has computed for so long, or taken much longer without computing."""
        if self.process is None:
            command = [sys.executable, "-m", "tests.fuzzing.worker"]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.ask([], START_SECONDS)  # imports, which are not what is timed
        ended = self.ask(arguments, seconds)
        self.done += 1
        if ended.code is None or self.done % 200 == 0:
            self.close()
        return ended

    def ask(self, arguments: list[str], seconds: float) -> Ended:
        """Send one command and wait for how it ends."""
        self.process.stdin.write(json.dumps(arguments) + "\n")
        self.process.stdin.flush()
        waited, looked, computed = 0.0, time.monotonic(), self.computed()
        while self.computed() - computed < seconds and waited < PATIENCE * seconds:
            # Whoever freezes this process for a while freezes the other, too: that is no hang.
            now = time.monotonic()
            waited, looked = waited + min(now - looked, 4 * LOOK), now
            if select.select([self.process.stdout], [], [], LOOK)[0]:
                line = self.process.stdout.readline()
                return Ended(**json.loads(line)) if line else Ended(None, "died", "", 0)
        told = f"computed {self.computed() - computed:.1f} s in {waited:.1f} s without an end"
        return Ended(None, told, "", 0)

    def computed(self) -> float:
        """Seconds for which the process has had a core, all threads together."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def peak_mib() -> int:
    """Most memory that this process held since it was last reset."""
    return int(re.search(r"VmHWM:\s+(\d+)", STATUS.read_text())[1]) // 1024


def read_bounds(folder: str) -> None:
    """Read the bounds of a folder, which no command takes."""
    from brdiv.evaluation.bounds import bounds_of
    from brdiv.games import Reaching

    bounds_of(Reaching(), Path(folder))


def check_study(file: str, folder: str) -> None:
    """Check a study as `brdiv study --dry-run` does, but for estimating its time, which takes some training."""
    from brdiv.commands.line.checks import check_output_folder
    from brdiv.commands.study import resolve_cells
    from brdiv.study.plan import read_study

    check_output_folder(Path(folder))
    planned = read_study(file)
    resolve_cells(planned, planned.cells(Path(folder)), Path(folder))


READERS = {"read bounds": read_bounds, "check study": check_study}


def main(arguments: list[str]) -> None:
    """Run a command as it is run from a terminal, or a reader whose mistakes are answered in the same way."""
    from brdiv import commands

    if arguments[0] in READERS:
        commands.answer(lambda: READERS[arguments[0]](*arguments[1:]))
    else:
        commands.main(arguments)


def run(arguments: list[str]) -> Ended:
    """Run one command in this process."""

    CLEAR.write_text("5")
    said, trace, code = io.StringIO(), "", 0
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            main(arguments)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException:
            trace = traceback.format_exc()
    return Ended(code, said.getvalue(), trace, peak_mib())


def serve() -> None:
    """Answer the parent until it goes."""
    import brdiv.commands.line.training  # noqa: F401
    from brdiv.commands.line import cores

    cores.busy_elsewhere = lambda: 0.0  # how crowded the machine is, is told in a line of its own
    answers = sys.stdout
    for line in sys.stdin:
        arguments = json.loads(line)
        ended = run(arguments) if arguments else Ended(0, "", "", peak_mib())
        answers.write(json.dumps(ended._asdict()) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
