"""What is played: the contract of a game, and the three games of the paper."""

from brdiv.games.base import Frame, Game, Playable
from brdiv.games.cooking import Cooking
from brdiv.games.lbf import LBF
from brdiv.games.policies import RESPONSE, TEAMMATE, Memory, Policies, SeatView
from brdiv.games.reaching import Reaching
from brdiv.games.strategies import Strategies

__all__ = [
    "LBF",
    "RESPONSE",
    "TEAMMATE",
    "Cooking",
    "Frame",
    "Game",
    "Memory",
    "Playable",
    "Policies",
    "Reaching",
    "SeatView",
    "Strategies",
    "shipped_games",
]


SHIPPED = (Reaching, LBF, Cooking)


def shipped_games() -> dict[str, type[Game]]:
    """Every game that comes with the package, by name, in the paper's order."""
    return {game.__name__: game for game in SHIPPED}
