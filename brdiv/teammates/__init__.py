"""Partners to play with: learned ones, and the scripted ones of each game."""

from brdiv.envs import LBF, Cooking, Reaching, Task
from brdiv.teammates.cooking import CookingHeuristics
from brdiv.teammates.lbf import LBFHeuristics
from brdiv.teammates.policy import RESPONSE, TEAMMATE, Heuristics, LearnedPolicies, Policies, Seen, SeveralPolicies
from brdiv.teammates.reaching import ReachingHeuristics

__all__ = [
    "RESPONSE",
    "TEAMMATE",
    "CookingHeuristics",
    "Heuristics",
    "LBFHeuristics",
    "LearnedPolicies",
    "Policies",
    "ReachingHeuristics",
    "Seen",
    "SeveralPolicies",
    "heuristics_of",
]


def heuristics_of(game: Task) -> Heuristics:
    """Build the scripted teammates of a game."""
    if isinstance(game, Reaching):
        return ReachingHeuristics(game)
    if isinstance(game, LBF):
        return LBFHeuristics(game)
    if isinstance(game, Cooking):
        return CookingHeuristics(game)
    raise ValueError(f"{type(game).__name__} has no heuristic teammates")
