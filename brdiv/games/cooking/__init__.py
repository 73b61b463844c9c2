"""Simple Cooking: two chefs on a ring who chop, blend, plate and serve."""

from brdiv.games.cooking.rules import Cooking

__all__ = ["Cooking"]
