"""What is on disk: the run folder, the population file, and checkpoints to resume from."""

from brdiv.runs.episodes import PlayedEpisode, read_episodes
from brdiv.runs.folder import RunFolder, is_first_process
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
    "SavedPopulation",
    "find_checkpoint",
    "is_first_process",
    "load_population",
    "read_about",
    "read_checkpoint",
    "read_episodes",
    "save_population",
]
