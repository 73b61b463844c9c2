"""Cooperative Reaching: two agents that must agree where to meet."""

from brdiv.games.reaching.rules import Reaching

__all__ = ["Reaching"]
