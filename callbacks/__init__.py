"""What watches a run. Nothing here changes what is learned; without these, results are the same."""

from .checkpoint import CheckpointError, Checkpoints, RunStopped
from .cross_play import CrossPlay
from .learner import LearnerEvaluation, LearnerExport
from .plastic import PlasticEvaluation
from .population import PopulationExport
from .progress import StepProgress
from .returns import TrainingReturns
from .rewards import RewardCheck
from .throughput import Throughput

__all__ = [
    "CheckpointError",
    "Checkpoints",
    "CrossPlay",
    "LearnerEvaluation",
    "LearnerExport",
    "PlasticEvaluation",
    "PopulationExport",
    "RewardCheck",
    "RunStopped",
    "StepProgress",
    "Throughput",
    "TrainingReturns",
]
