"""Hostile checkpoints of learners."""

import copy
from collections.abc import Callable
from pathlib import Path

import torch

from tests.fuzzing.checkpoints import UPDATES, CheckpointFiles, as_file, deep
from tests.learners.small import UPDATE, learn


class LearnerCheckpointFiles(CheckpointFiles):
    """Files made from a checkpoint of a small learner, from which it is to be trained on."""

    program, update = "learn", UPDATE

    @classmethod
    def train(cls, run: Path, *options: str) -> Path:
        """Train the small learner, with teammates of whom some remember things."""
        return learn(run, *options, teammates=("heuristics", "random"), steps=UPDATES * cls.update)

    def hand_made(self) -> dict[str, bytes]:
        """Files that someone thought about."""

        def playing(change: Callable[[dict], None]) -> bytes:
            whole = copy.deepcopy(self.checkpoint)
            change(whole["loops"]["fit_loop"]["state_dict"]["combined_loader"][0]["ranks"][0]["play"]["learner"])
            return as_file(whole)

        common = super().hand_made()
        del common["memories larger than memory"]  # of callbacks that learners don't have
        return {
            **common,
            "no learner": playing(dict.clear),
            "a memory of nothing": playing(lambda held: held.update(memory=None)),
            "a memory that is no number": playing(lambda held: held["memory"].fill_(float("nan"))),
            "a memory of others": playing(lambda held: held.update(memory=held["memory"][:1])),
            "actions that there are not": playing(lambda held: held["other"].fill_(99)),
            "negative actions": playing(lambda held: held["own"].fill_(-1)),
            "half an action": playing(lambda held: held.update(own=held["own"].float())),
            "no teammates": playing(lambda held: held.update(teammates=[])),
            "teammates that are a word": playing(lambda held: held.update(teammates="x")),
            "teammates that remember a word": playing(lambda held: held.update(teammates=["x"] * 9)),
            "teammates in lists": playing(lambda held: held.update(teammates=deep(10))),
            "teammates larger than memory": playing(
                lambda held: held.update(teammates=[torch.zeros(1).expand(1 << 36)])
            ),
        }
