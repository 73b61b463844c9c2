"""Independent training: K teams, each for itself."""

from brdiv.objectives.base import Objective


class Independent(Objective):
    """Self-play alone (the paper's ablation): nothing keeps two teams from becoming the same."""
