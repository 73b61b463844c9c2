"""The episodes that are being played: a limited number, of which those that nobody touches are ended."""

import secrets
import time
from collections.abc import Callable

from brdiv.serve.match import Match
from brdiv.serve.messages import Refusal


class Session:
    """One episode at one page."""

    def __init__(self, match: Match, keep: bool, now: float) -> None:
        self.match = match
        self.keep = keep
        self.kept = False
        self.touched = now


class Sessions:
    """All of them, under names that can't be guessed.

    Args:
        most: How many there may be.
        idle: After how many seconds one that nobody touches is ended.
        clock: Tells the seconds.

    """

    def __init__(self, most: int, idle: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self.idle = idle
        self.clock = clock
        self.running: dict[str, Session] = {}

    def add(self, match: Match, keep: bool) -> str:
        """Begin one, and name it."""
        self.make_room()
        name = secrets.token_urlsafe(16)
        self.running[name] = Session(match, keep, self.clock())
        return name

    def make_room(self) -> None:
        """Refuse one more where there are as many as there may be; those that are over give way, the oldest first."""
        self.end_idle()
        if len(self.running) >= self.most:
            over = [name for name, session in self.running.items() if session.match.over]
            for name in over[:1]:
                del self.running[name]
        if len(self.running) >= self.most:
            raise Refusal(503, f"{self.most} games are being played, and there may be no more: end one, or come back")

    def find(self, name: str) -> Session:
        """Look one up, and note that somebody is there."""
        self.end_idle()
        session = self.running.get(name)
        if session is None:
            raise Refusal(404, "This game has ended: nobody played it for a while, or the server was started anew.")
        session.touched = self.clock()
        return session

    def end(self, name: str) -> None:
        """End one, if it is there."""
        self.running.pop(name, None)

    def end_idle(self) -> None:
        """End those that nobody has touched for long."""
        oldest = self.clock() - self.idle
        for name in [name for name, session in self.running.items() if session.touched < oldest]:
            del self.running[name]
