"""Hostile configs of learners."""

from pathlib import Path

from tests.fuzzing.configs import ConfigFiles
from tests.learners.small import UPDATE, learn


class LearnerConfigFiles(ConfigFiles):
    """Configs made from that of a small learner, all settings in it."""

    program = "learn"

    @staticmethod
    def train(run: Path, *options: str) -> Path:
        """Train the small learner."""
        return learn(run, *options, teammates=("H1", "random"), config="learners/liam", steps=2 * UPDATE)

    def hand_made(self) -> dict[str, str]:
        """Files that someone thought about."""
        return {**self.no_configs(), **self.of_every_kind(), **self.of_learners()}

    def of_learners(self) -> dict[str, str]:
        """Settings of learners alone."""
        other = self.other
        return {
            "nobody": other(teammates=[]),
            "null for teammates": other(teammates=None),
            "a teammate that is null": other(teammates=[None]),
            "a teammate that is a device": other(teammates=["/dev/zero"]),
            "a teammate that is a folder": other(teammates=["/"]),
            "a teammate that is a page": other(teammates=["x" * 5000]),
            "a teammate of a page's file": other(teammates=["x/" * 5000]),
            "a teammate with an escape": other(teammates=["\x1b[31mH1"]),
            "a teammate with a null byte": other(teammates=["runs/\0"]),
            "a weight that is no number": other(data={"weights": [float("nan"), 1.0]}),
            "an infinite weight": other(data={"weights": [float("inf"), 1.0]}),
            "a weight beyond float32": other(data={"weights": [1e308, 1e308]}),
            "weights of nothing": other(data={"weights": [0.0, 0.0]}),
            "rows larger than memory": other(data={"rows": 10**10}),
            "no rows": other(data={"rows": None}),
            "a memory larger than memory": other(model={"memory": 10**7}),
            "no memory": other(model={"memory": 0}),
            "an endless clip": other(model={"clip": float("inf")}),
            "a norm that is no number": other(model={"clip_norm": float("nan")}),
            "a billion epochs": other(model={"epochs": 10**9}),
            "a billion parts": other(model={"minibatches": 2**70}),
            "a discount that is no number": other(model={"gamma": float("nan")}),
            "a decoder larger than memory": other(
                model={"method": {"class_path": "LIAM", "init_args": {"hidden": 10**12}}}
            ),
            "a weight of no number": other(
                model={"method": {"class_path": "LIAM", "init_args": {"weight": float("nan")}}}
            ),
            "a method that is none": other(model={"method": {"class_path": "BRDiv"}}),
            "episodes larger than memory": other(evaluation={"episodes": 10**12}),
            "strangers who are null": other(evaluation={"validation": None}),
            "strangers who are a device": other(evaluation={"validation": ["/dev/zero"]}),
        }
