"""Level-Based Foraging: two players who can lift a food only together."""

from brdiv.games.lbf.rules import LBF

__all__ = ["LBF"]
