"""Keeping episodes in the one file that was named, of those who agreed."""

from pathlib import Path

from brdiv.serve.messages import Refusal
from brdiv.serve.sessions import Session

MOST_BYTES = 1_000_000_000


class Keeper:
    """Appends complete episodes to a file; to none, where none was named."""

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def keep(self, session: Session) -> None:
        """Write an episode that is over, once, if its player agrees."""
        if self.path is None or not session.keep or session.kept or not session.match.over:
            return
        line = session.match.played().to_line()
        if self.path.exists() and self.path.stat().st_size + len(line) > MOST_BYTES:
            raise Refusal(507, "the file of episodes is full")
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line)
        session.kept = True
