"""A tiny training run through the command line, for tests."""

from pathlib import Path

from brdiv.commands import main

SMALL = [
    "--model.hidden",
    "[16]",
    "--data.self_play_rows",
    "8",
    "--data.cross_play_rows",
    "8",
    "--data.mixed_play_rows",
    "0",
    "--threads",
    "1",
]


def train(run: Path, *arguments: str, config: str = "reaching", steps: int = 128 * 12) -> Path:
    """Train a small population into the folder ``run``, which is given back."""
    quick = ["--cross_play.final_episodes", "4", "--trainer.log_every_n_steps", "1", "--data.steps", str(steps)]
    main(["fit", "--config", config, *SMALL, *quick, "--run", str(run), *arguments])
    return run
