"""The methods of generating teammates, interchangeable by name in a config."""

from brdiv.objectives.anyplay import AnyPlay
from brdiv.objectives.base import Objective, Sizes
from brdiv.objectives.brdiv import BRDiv
from brdiv.objectives.independent import Independent
from brdiv.objectives.lbrdiv import LBRDiv
from brdiv.objectives.lipo import LIPO
from brdiv.objectives.trajedi import TrajeDi

__all__ = ["LIPO", "AnyPlay", "BRDiv", "Independent", "LBRDiv", "Objective", "Sizes", "TrajeDi"]
