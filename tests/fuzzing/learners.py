"""Hostile learner files."""

from typing import Any

import torch

from brdiv.games import Reaching
from brdiv.recurrent import RecurrentActorCritic
from brdiv.runs import load_learner, save_learner
from tests.fuzzing.weights import WeightFiles, pack, unpack

ABOUT = {
    "method": {"name": "PPO", "label": "PPO", "settings": {"weight": 1.0}},
    "teammates": ["H1", "runs/x:2"],
    "populations": ["0" * 64],
    "prepared_with": ["H1", "BRDiv"],
    "validation": [],
    "seed": 3,
    "steps": 1280,
    "finished": True,
}


class LearnerFiles(WeightFiles):
    """Files made from one small learner."""

    key = "brdiv_learner"

    def write_whole(self) -> None:
        """Write the small file."""
        save_learner(self.path, RecurrentActorCritic(50, 5, [8, 6], 4), Reaching(), ABOUT)

    def load(self) -> Any:
        """Load the file that is there."""
        return load_learner(self.path)

    def weights(self, loaded: Any) -> dict[str, torch.Tensor]:
        """The weights of what was loaded."""
        return loaded.net.state_dict()

    def command(self) -> list[str]:
        """Let it play a while."""
        return ["play", "random", str(self.path), "--episodes", "1", "--threads", "1"]

    def hand_made(self) -> dict[str, bytes]:
        """Files that someone thought about."""
        header, weights = unpack(self.described(format=1, seed=4))
        del header["__metadata__"][f"{self.key}_sha256"]
        return {
            **super().hand_made(),
            "a format that learners never had": pack(header, weights),
            "a trillion numbers to remember": self.described(memory=10**12),
            "a memory that is true": self.described(memory=True),
            "no memory": self.described(memory=0),
            "a million teammates": self.described(teammates=["H1"] * 10**5),
            "a teammate that is a number": self.described(teammates=[1]),
            "populations that are a word": self.described(populations="x"),
        }

    def with_weights(self, number: float) -> bytes:
        """A file with right checksums whose weights are no use."""
        net = RecurrentActorCritic(50, 5, [8, 6], 4)
        net.policy[2].bias.data[:] = number
        self.remove()
        return save_learner(self.path, net, Reaching(), ABOUT).read_bytes()
