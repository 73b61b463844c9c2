"""Give every loader hundreds of damaged and hostile files, and see that each is refused in one line: `make fuzz`.

Not a test of the suite, which has a sample of it. A file fails if it ends in a traceback or in more than one line,
computes for longer than 5 s (or waits for a minute), takes more than 1 GB, or is accepted although it was made to be
refused, or what it says was changed without its checksum.
"""

import argparse
import random
import sys
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path

from tests.fuzzing import Accept
from tests.fuzzing.checkpoints import CheckpointFiles
from tests.fuzzing.configs import ConfigFiles
from tests.fuzzing.learner_checkpoints import LearnerCheckpointFiles
from tests.fuzzing.learner_configs import LearnerConfigFiles
from tests.fuzzing.learners import LearnerFiles
from tests.fuzzing.populations import PopulationFiles
from tests.fuzzing.texts import BoundsFiles, EpisodeFiles, StudyFiles
from tests.fuzzing.worker import Ended, Worker

LOADERS = {
    "populations": PopulationFiles,
    "learners": LearnerFiles,
    "checkpoints": CheckpointFiles,
    "learner_checkpoints": LearnerCheckpointFiles,
    "configs": ConfigFiles,
    "learner_configs": LearnerConfigFiles,
    "studies": StudyFiles,
    "episodes": EpisodeFiles,
    "bounds": BoundsFiles,
}
SECONDS, MOST_MIB, LONGEST_LINE = 5.0, 1024, 1000


def verdict(ended: Ended, accept: Accept, files: object) -> str:
    """Say what became of a file: refused, accepted, or in which way it fails."""
    if ended.code is None:
        return f"FAILS: {ended.error}"
    if ended.traceback:
        return f"FAILS: traceback {ended.traceback.strip().splitlines()[-1]}\n{ended.traceback}"
    if ended.peak_mib > MOST_MIB:
        return f"FAILS: took {ended.peak_mib} MiB"
    if ended.code:
        lines = [line for line in ended.error.splitlines() if line.strip()]
        one = len(lines) == 1 and lines[0].startswith("brdiv: error: ") and len(lines[0]) < LONGEST_LINE
        return "refused" if one and lines[0].isprintable() else f"FAILS: said {ended.error[:2000]!r}"
    if accept is Accept.NONE:
        return "FAILS: accepted"
    if accept is Accept.UNCHANGED and files.changed(ended):
        return "FAILS: accepted, and it says something else"
    return "accepted"


def fuzz(
    loader: str, number: int, seed: int, worker: Worker, seconds: float = SECONDS, verbose: bool = False
) -> Counter:
    """Try so many mutated files of a loader after its hand-made ones; prints those that fail, and counts all."""
    counts: Counter = Counter()
    with tempfile.TemporaryDirectory() as folder:
        files = LOADERS[loader](Path(folder))
        for name, accept in files.cases(random.Random(seed), number):
            ended = worker.run(files.command(), seconds)
            told = verdict(ended, accept, files)
            counts[told.split(":")[0]] += 1
            if verbose or told.startswith("FAILS"):
                print(f"{loader}: {name}: {told}  {ended.error.strip()[:300]}", flush=True)
    return counts


def main() -> None:
    """Try all loaders."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loaders", nargs="+", choices=list(LOADERS), default=list(LOADERS))
    parser.add_argument("--files", type=int, default=500, help="mutated files for each loader, after hand-made ones")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for how long each may compute")
    parser.add_argument("--verbose", action="store_true", help="print what became of every file")
    options = parser.parse_args()
    failed = 0
    with closing(Worker()) as worker:
        for loader in options.loaders:
            counts = fuzz(loader, options.files, options.seed, worker, options.seconds, options.verbose)
            failed += counts["FAILS"]
            print(f"{loader}: {counts.total()} files, {dict(counts)}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
