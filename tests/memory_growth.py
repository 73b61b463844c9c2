"""Train for a million steps and see whether memory grows: `make memory`.

Not a test of the suite, because it takes a minute. The first fifth of the run is left out: caches fill in it.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import mean

from lightning import Callback

from brdiv.commands.line.training import build_parts


class Memory(Callback):
    """Notes how much memory the process holds, every so many updates."""

    def __init__(self, every: int = 10) -> None:
        self.every = every
        self.bytes: list[int] = []

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx) -> None:
        """Ask the kernel for pages in use."""
        if batch_idx % self.every == 0:
            self.bytes.append(int(Path("/proc/self/statm").read_text().split()[1]) * 4096)


def main() -> None:
    """Compare the second fifth of a run with the last."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", default="lbf")
    parser.add_argument("--steps", default="1_250_000")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as run:
        arguments = ["--config", options.config]
        arguments += ["--cross_play.every", "100_000", "--cross_play.episodes", "4", "--plastic.every", "200_000"]
        arguments += ["--checkpoints.every", "100_000"]
        parts = build_parts(arguments, Path(run), updates=int(options.steps) // 1280)
        memory = Memory()
        parts.trainer.callbacks.append(memory)
        parts.trainer.fit(parts.module, datamodule=parts.data)
    part = len(memory.bytes) // 5
    early, late = mean(memory.bytes[part : 2 * part]), mean(memory.bytes[-part:])
    growth = late / early - 1
    print(f"memory from the second fifth of {parts.module.env_steps:,} steps to the last: "
          f"{early / 2**20:.1f} -> {late / 2**20:.1f} MiB, {100 * growth:+.2f} %")  # fmt: skip
    sys.exit(growth >= 0.01)


if __name__ == "__main__":
    main()
