"""One config, many seeds: how often it works."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import torch

from brdiv.envs import Game
from brdiv.metrics import best_response_diversity, mean_diagonal, mean_off_diagonal
from brdiv.play import cross_play, strategies
from brdiv.populations import PopulationFileError, load_population

FILE = "population.safetensors"


class SeedResult(NamedTuple):
    """What one seed's population does, measured anew from its file."""

    seed: int
    label: str  # the method, as its paper writes it
    n_types: int
    strategies: int | None  # distinct ways in which its teams do the task; None where the game has only one
    diagonal: float
    off_diagonal: float
    brdiv: float
    length: float  # of self-play episodes

    @property
    def complete(self) -> bool:
        """Whether every teammate has a way of its own."""
        return self.strategies == self.n_types


def train_seeds(seeds: Sequence[int], folder: Path, fit_arguments: Sequence[str], jobs: int) -> Iterator[SeedResult]:
    """Train each seed with `brdiv fit`, ``jobs`` at a time on one thread each, and measure it.

    Seeds that finished before are not trained again. Each one's output goes to ``folder/seed<N>.log``.
    """
    return (result for _, result in train_methods({"": fit_arguments}, seeds, folder, jobs))


def train_methods(
    methods: Mapping[str, Sequence[str]], seeds: Sequence[int], folder: Path, jobs: int
) -> Iterator[tuple[str, SeedResult]]:
    """Train every method, given by name and arguments of `brdiv fit`, with every seed, in ``folder/<name>``."""
    for name, fit_arguments in methods.items():
        claim_settings(folder / name, fit_arguments)
    tasks = [(name, seed) for name in methods for seed in seeds]
    with ThreadPoolExecutor(jobs) as pool:
        paths = pool.map(lambda task: train(task[1], folder / task[0], methods[task[0]]), tasks)
        for (name, seed), path in zip(tasks, paths, strict=True):
            yield name, measure(seed, path)


def train(seed: int, folder: Path, fit_arguments: Sequence[str]) -> Path:
    """Train one seed in a process of its own, unless its finished population is there; returns the population file."""
    run, number = folder / f"seed{seed}", 1
    while run.exists():  # an unfinished attempt is kept, not overwritten
        if finished(run / FILE):
            return run / FILE
        number += 1
        run = folder / f"seed{seed}-{number}"
    command = [sys.executable, "-m", "brdiv", "fit", *fit_arguments]
    command += ["--seed_everything", str(seed), "--run", str(run), "--threads", "1"]
    log = folder / f"{run.name}.log"
    with log.open("w") as output:
        code = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False).returncode
    if code != 0:
        lines = log.read_text().strip().splitlines()
        raise RuntimeError(f"seed {seed} failed: {lines[-1] if lines else f'exit code {code}'} (all of it: {log})")
    return run / FILE


def claim_settings(folder: Path, fit_arguments: Sequence[str]) -> None:
    """Refuse a folder that holds runs with other settings: they would be taken for results of these."""
    texts = [Path(part).read_text() if Path(part).is_file() else part for part in fit_arguments]
    settings, path = json.dumps(texts, indent=1), folder / "settings.json"
    unknown = not path.exists() and any(folder.glob("seed*"))
    if unknown or (path.exists() and path.read_text() != settings):
        raise ValueError(f"{folder} holds runs with other settings; choose another --folder, or remove it")
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(settings)


def finished(path: Path) -> bool:
    """Whether a whole population of a whole run is there."""
    try:
        return bool(load_population(path, allow_imports=True).about.get("finished"))
    except (FileNotFoundError, PopulationFileError):
        return False


def measure(seed: int, path: Path, episodes: int = 1000) -> SeedResult:
    """Play every pair of a population file anew."""
    population, game, about = load_population(path, allow_imports=True)  # this command trained it
    played = cross_play(game, population, population.n_types, episodes, torch.Generator().manual_seed(seed))
    matrix = played.returns.mean(-1)
    told_apart = isinstance(game, Game) and game.outcome(game.initial(1, torch.Generator())) is not None
    found = set(strategies(played).tolist()) - {-1}
    return SeedResult(
        seed,
        str(about.get("method", {}).get("label", "unknown")),
        population.n_types,
        len(found) if told_apart else None,
        float(mean_diagonal(matrix)),
        float(mean_off_diagonal(matrix)),
        float(best_response_diversity(matrix)),
        float(played.lengths.diagonal().float().mean()),
    )


def parse_seeds(text: str) -> list[int]:
    """Read seeds as a list of numbers and ranges.

    >>> parse_seeds("0-3,7,2")
    [0, 1, 2, 3, 7]
    """
    seeds: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise ValueError(f"seeds {text!r}: give numbers and ranges, as in 0-9 or 1,4,7")
        seeds += range(int(first), int(last or first) + 1)
    if not seeds:
        raise ValueError(f"seeds {text!r} names none")
    return list(dict.fromkeys(seeds))
