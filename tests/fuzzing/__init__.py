"""Mutated and hand-made hostile files for everything that brdiv loads: `python -m tests.fuzz`."""

from enum import Enum, auto


class Accept(Enum):
    """Which files of a kind may be accepted."""

    NONE = auto()
    UNCHANGED = auto()  # those that still say what the file said before it was mutated
    ANY = auto()
