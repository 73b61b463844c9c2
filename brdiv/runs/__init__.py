"""What is on disk: the run folder, the population file, and checkpoints to resume from."""

from brdiv.runs.episodes import PlayedEpisode, read_episodes
from brdiv.runs.folder import RunFolder, is_first_process
from brdiv.runs.learner_file import SavedLearner, about_learner, is_learner, load_learner, save_learner
from brdiv.runs.population_file import (
    PopulationFileError,
    SavedPopulation,
    load_population,
    read_about,
    save_population,
)
from brdiv.runs.resume import CheckpointFileError, find_checkpoint, read_checkpoint

__all__ = [
    "CheckpointFileError",
    "PlayedEpisode",
    "PopulationFileError",
    "RunFolder",
    "SavedLearner",
    "SavedPopulation",
    "about_learner",
    "find_checkpoint",
    "is_first_process",
    "is_learner",
    "load_learner",
    "load_population",
    "read_about",
    "read_checkpoint",
    "read_episodes",
    "save_learner",
    "save_population",
]
