"""`brdiv serve` in a process of its own, and messages to it."""

import os
import re
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path


class Running:
    """A server that runs: where it is, and what it has said."""

    def __init__(self, process, errors):
        self.process = process
        self.errors = errors
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        assert found, line + errors.read_text()
        self.port = int(found[1])
        self.address = found[0]

    def memory(self):
        """Bytes that the process holds."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * 4096

    def complaints(self):
        return self.errors.read_text()


@contextmanager
def running_server(*arguments):
    """Start it on a free port, and end it."""
    with tempfile.TemporaryDirectory() as folder:
        errors = Path(folder) / "errors"
        command = [sys.executable, "-m", "brdiv", "serve", *map(str, arguments), "--port", "0"]
        with errors.open("w") as file:
            environment = {**os.environ, "OMP_NUM_THREADS": "1"}
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=file, text=True, env=environment)
        try:
            yield Running(process, errors)
        finally:
            process.terminate()
            process.wait()
            process.stdout.close()


async def ask(session, server, name, **message):
    """Send a message as the page does: status and answer."""
    async with session.post(f"{server.address}api/{name}", json=message) as response:
        return response.status, await response.json()


async def played(session, server, game, seats, moves, seed=7):
    """Play a game with given moves, again and again, until it ends: every scene and reward that was shown."""
    _, answer = await ask(session, server, "begin", game=game, seats=seats, seed=seed)
    shown = [*answer["moments"]]
    while not answer["end"]:
        step = answer["step"]
        status, answer = await ask(
            session, server, "act", match=answer["match"], step=step, action=moves[step % len(moves)]
        )
        assert status == 200, answer
        shown += answer["moments"]
    await ask(session, server, "end", match=answer["match"])
    return shown
