"""A tiny study, for tests."""

import json
from pathlib import Path

import yaml

TINY = {
    "model": {"hidden": [16]},
    "data": {"steps": 384, "self_play_rows": 8, "cross_play_rows": 8},
    "cross_play": {"final_episodes": 2, "episodes": 1},
    "plastic": {"every": 0, "episodes": 1},
}
LONG = {**TINY, "data": {**TINY["data"], "steps": 40_000}, "checkpoints": {"every": 1000}}


def write_study(path: Path, **changes) -> Path:
    """Write a study of one cell; returns its file."""
    study = {"games": ["reaching"], "methods": ["independent"], "seeds": 1, "overrides": TINY}
    study["evaluation"] = {"episodes": 2, "generated_episodes": 2, "cross_play_episodes": 4}
    path.write_text(yaml.safe_dump({**study, **changes}))
    return path


def state_of(folder: Path, cell: str = "reaching/independent/seed1") -> dict:
    """What the file of a cell says."""
    return json.loads((folder / "cells" / f"{cell}.json").read_text())
