"""The methods of generating teammates, interchangeable by name in a config."""

from brdiv.objectives.base import Objective
from brdiv.objectives.brdiv import BRDiv

__all__ = ["BRDiv", "Objective"]
