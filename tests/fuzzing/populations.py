"""Hostile population files."""

import json
from pathlib import Path
from typing import Any

import torch

from brdiv.games import Reaching
from brdiv.nets import Population
from brdiv.runs import load_population, save_population
from tests.fuzzing.weights import WeightFiles, forge, pack, unpack

KEY = "brdiv"
ABOUT = {
    "method": {"name": "BRDiv", "label": "BRDiv", "settings": {"pressure": 1.0}},
    "seed": 3,
    "steps": 1280,
    "finished": True,
}


def say_otherwise(path: Path, **changes: object) -> None:
    """Have a population file say something else of itself, with the right checksum."""
    header, weights = unpack(path.read_bytes())
    path.write_bytes(pack(forge(header, {**json.loads(header["__metadata__"][KEY]), **changes}, KEY), weights))


class PopulationFiles(WeightFiles):
    """Files made from one small population."""

    key = KEY

    def write_whole(self) -> None:
        """Write the small file."""
        save_population(self.path, Population(3, 50, 5, [8, 6]), Reaching(), ABOUT)

    def load(self) -> Any:
        """Load the file that is there."""
        return load_population(self.path)

    def weights(self, loaded: Any) -> dict[str, torch.Tensor]:
        """The weights of what was loaded."""
        return loaded.population.state_dict()

    def command(self) -> list[str]:
        """Show it."""
        return ["show", str(self.path), "--episodes", "0"]

    def hand_made(self) -> dict[str, bytes]:
        """Files that someone thought about."""
        return {**super().hand_made(), "a trillion types": self.described(n_types=10**12)}

    def with_weights(self, number: float) -> bytes:
        """A file with right checksums whose weights are no use."""
        population = Population(3, 50, 5, [8, 6])
        population.layers[0].bias.data[:] = number
        self.remove()
        return save_population(self.path, population, Reaching()).read_bytes()
