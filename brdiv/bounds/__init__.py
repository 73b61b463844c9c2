"""Whether the differences between teams are real: how many best responses a population needs."""

from brdiv.bounds.cover import smallest_cover
from brdiv.bounds.measure import ENOUGH, Bounds, Served, find_bounds
from brdiv.bounds.training import Fit, Settings, Task, train_responses

__all__ = ["ENOUGH", "Bounds", "Fit", "Served", "Settings", "Task", "find_bounds", "smallest_cover", "train_responses"]
