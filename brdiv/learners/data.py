"""The stream of a learner's play with frozen teammates."""

from collections.abc import Sequence
from typing import Any

import torch

from brdiv.doors.teammates import Teammates, file_of, find_teammates, split
from brdiv.errors import UserError
from brdiv.games import Playable
from brdiv.learners.collector import LearnerCollector
from brdiv.rollouts import make_env
from brdiv.rollouts.collector import derive_seeds
from brdiv.rollouts.pairings import TeammateDraw
from brdiv.runs import read_about
from brdiv.runs.population_file import checksum
from brdiv.teamwork import LearnedPolicies
from brdiv.training.stream import StreamData


class LearnerData(StreamData):
    """Collects every batch with the learner of this moment, beside teammates who never change.

    Args:
        teammates: Who is played with: population files or run folders, single teammates of them as FILE:3, heuristics
            as H1,H4, `heuristics` for all of them, `random`.
        weights: How often each teammate is drawn when an episode starts, as a share of their sum; all alike if none are
            given.
        game: The game to play, needed where no teammate is of a population file.
        rows: Number of environments.
        window: Steps of every row between two updates; as far back gradients go in the memory.
        steps: Budget in environment steps, all rows of all devices counted.
        allow_imports: Whether to import the custom game or external environment that a trusted file names.
        seed: Seed of everything that is drawn while playing. Set by the run's seed.

    """

    pairing: TeammateDraw

    def __init__(
        self,
        teammates: list[str],
        weights: list[float] | None = None,
        game: Playable | None = None,
        rows: int = 256,
        window: int = 32,
        steps: int = 4_000_000,
        allow_imports: bool = False,
        seed: int = 0,
    ) -> None:
        if not teammates:
            raise UserError("teammates names nobody; give a population file, FILE:3, H1, heuristics or random")
        self.found = find_teammates(teammates, game, allow_imports=allow_imports)
        self.teammates = list(teammates)
        self.weights = weights
        draw = TeammateDraw(len(self.found.names), rows, weights)
        super().__init__(self.found.game, draw, window, steps, seed)

    def collect(self, module: Any, device: torch.device, seed: Sequence[int]) -> LearnerCollector:
        """Start the environments, to be played by the network of a module."""
        env = make_env(self.game, self.pairing, device, derive_seeds(seed)[0])
        for policies, _ in self.found.candidates:
            policies.move_to(device)
        return LearnerCollector(env, module.net, self.found.candidates, self.window, seed)

    def populations(self) -> list[str]:
        """Checksums of the populations that teammates are of: those are no strangers to the learner."""
        return populations_of(self.found)

    def sources(self) -> list[str]:
        """Name where teammates come from: the methods of their populations, heuristics by their names."""
        return list(dict.fromkeys(source_of(part) for entry in self.teammates for part in split(entry)))

    def who(self) -> str:
        """Say who the teammates are, and how often each is drawn, so that others can't be taken for them.

        Those of a population by their number and its weights alone: its file may be moved, or named otherwise.
        """
        shares = [""] * len(self.found.names) if self.weights is None else [f" x {w:g}" for w in self.weights]
        told = []
        for name, (policies, number), share in zip(self.found.names, self.found.candidates, shares, strict=True):
            who = f"{weights_of(policies)[:8]}:{number + 1}" if isinstance(policies, LearnedPolicies) else name
            told.append(f"{who}{share}")
        return ", ".join(told)


def source_of(name: str) -> str:
    """Name the method of a file's population; others are called what they are called."""
    file = file_of(name)
    if not file:
        return name
    method = read_about(file).get("method", {})
    return str(method.get("label") or method.get("name") or "unknown")


def populations_of(teammates: Teammates) -> list[str]:
    """Checksums of the populations that some teammates are of."""
    kinds = {id(policies): policies for policies, _ in teammates.candidates}.values()
    return [weights_of(policies) for policies in kinds if isinstance(policies, LearnedPolicies)]


def weights_of(policies: LearnedPolicies) -> str:
    """Checksum of a population's weights, as its file has it."""
    return checksum(policies.population.state_dict().items())
