"""What watches a run. Nothing here changes what is learned but for rounding, which `MatrixProducts` may."""

from .checkpoint import CheckpointError, Checkpoints, RunStopped
from .cross_play import CrossPlay
from .plastic import PlasticEvaluation
from .population import PopulationExport
from .products import MatrixProducts
from .progress import StepProgress
from .returns import TrainingReturns
from .rewards import RewardCheck
from .throughput import Throughput

__all__ = [
    "CheckpointError",
    "Checkpoints",
    "CrossPlay",
    "MatrixProducts",
    "PlasticEvaluation",
    "PopulationExport",
    "RewardCheck",
    "RunStopped",
    "StepProgress",
    "Throughput",
    "TrainingReturns",
]
