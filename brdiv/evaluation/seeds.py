"""One config, many seeds: how often it works."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import torch

from brdiv.errors import UserError
from brdiv.games import Playable
from brdiv.metrics import best_response_diversity, interchangeable_groups, mean_diagonal, mean_off_diagonal
from brdiv.nets import Population
from brdiv.runs import PopulationFileError, RunFolder, load_population
from brdiv.runs.parent import as_parent
from brdiv.runs.population_file import read_about
from brdiv.teamwork import NoisyPolicies, TeamStrategy, both_seats, cross_play, play_pairs, team_strategies

NOISE = 0.4
"""Share of a teammate's actions that are replaced by random ones, to see how brittle its best response is."""


class SeedResult(NamedTuple):
    """What one seed's population does, measured anew from its file."""

    seed: int
    label: str  # the method, as its paper writes it
    n_types: int
    groups: int  # of interchangeable teams
    strategies: int | None  # distinct ways in which its teams win the game; None where they can't be told apart
    diagonal: float
    off_diagonal: float
    brdiv: float
    length: float  # of self-play episodes
    noisy: float  # mean return of best responses with their own teammates, some of whose actions are random
    run: Path

    @property
    def complete(self) -> bool:
        """Whether no teammate can stand in for another."""
        return self.groups == self.n_types


def train_seeds(
    seeds: Sequence[int],
    folder: Path,
    fit_arguments: Sequence[str],
    jobs: int,
    threads: int,
    episodes: int,
    allow_imports: bool = False,
) -> Iterator[SeedResult]:
    """Train each seed with `brdiv fit`, ``jobs`` at a time on so many threads each, and measure it.

    Seeds that finished before are not trained again. Each one's output goes to ``folder/seed<N>.log``.
    """
    results = train_methods({"": fit_arguments}, seeds, folder, jobs, threads, episodes, allow_imports)
    return (result for _, result in results)


def train_methods(
    methods: Mapping[str, Sequence[str]],
    seeds: Sequence[int],
    folder: Path,
    jobs: int,
    threads: int,
    episodes: int,
    allow_imports: bool = False,
) -> Iterator[tuple[str, SeedResult]]:
    """Train every method, given by name and arguments of `brdiv fit`, with every seed, in ``folder/<name>``.

    What was trained just now may import what its config named; what lay there before, only with ``allow_imports``.
    """
    for name, fit_arguments in methods.items():
        claim_settings(folder / name, fit_arguments)
    runs = [(name, seed) for name in methods for seed in seeds]
    with ThreadPoolExecutor(jobs) as pool:
        paths = pool.map(lambda run: train(run[1], folder / run[0], methods[run[0]], threads), runs)
        for (name, seed), (path, trained) in zip(runs, paths, strict=True):
            yield name, measure(seed, path, episodes, allow_imports or trained)


def train(seed: int, folder: Path, fit_arguments: Sequence[str], threads: int) -> tuple[Path, bool]:
    """Train one seed in a process of its own, unless its finished population is there.

    Returns the population file, and whether it was trained now.
    """
    run, number = RunFolder(folder / f"seed{seed}"), 1
    while run.path.exists():  # an unfinished attempt is kept, not overwritten
        if finished(run.population):
            return run.population, False
        number += 1
        run = RunFolder(folder / f"seed{seed}-{number}")
    command = [sys.executable, "-m", "brdiv", "fit", *fit_arguments]
    command += ["--seed_everything", str(seed), "--run", str(run), "--threads", str(threads)]
    log = folder / f"{run.path.name}.log"
    with log.open("w") as output:
        code = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False, env=as_parent()).returncode
    if code != 0:
        lines = log.read_text().strip().splitlines()
        raise UserError(f"seed {seed} failed: {lines[-1] if lines else f'exit code {code}'} (all of it: {log})")
    return run.population, True


def claim_settings(folder: Path, fit_arguments: Sequence[str]) -> None:
    """Refuse a folder that holds runs with other settings: they would be taken for results of these."""
    texts = [Path(part).read_text() if Path(part).is_file() else part for part in fit_arguments]
    settings, path = json.dumps(texts, indent=1), folder / "settings.json"
    unknown = not path.exists() and any(folder.glob("seed*"))
    if unknown or (path.exists() and path.read_text() != settings):
        raise UserError(f"{folder} holds runs with other settings; choose another --folder, or remove it")
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(settings)


def finished(path: Path) -> bool:
    """Whether a whole population of a whole run is there."""
    try:
        return bool(read_about(path).get("finished"))
    except PopulationFileError:
        return False


def measure(seed: int, path: Path, episodes: int, allow_imports: bool = False) -> SeedResult:
    """Play so many episodes of every pair of a population file anew."""
    population, game, about = load_population(path, allow_imports)
    generator = torch.Generator().manual_seed(seed)
    played = cross_play(game, *both_seats(population), episodes, generator)
    matrix = played.returns.mean(-1)
    teams = team_strategies(game, *both_seats(population), episodes, generator)
    return SeedResult(
        seed,
        str(about.get("method", {}).get("label", "unknown")),
        population.n_types,
        len(interchangeable_groups(matrix)),
        None if teams is None else distinct(teams),
        float(mean_diagonal(matrix)),
        float(mean_off_diagonal(matrix)),
        float(best_response_diversity(matrix)),
        float(played.lengths.diagonal().float().mean()),
        return_with_noise(population, game, episodes, generator),
        path.parent,
    )


def distinct(teams: Sequence[TeamStrategy | None]) -> int:
    """Count the strategies of teams that win at all."""
    return len({team.name for team in teams if team is not None})


def return_with_noise(
    population: Population, game: Playable, episodes: int, generator: torch.Generator, share: float = NOISE
) -> float:
    """Mean return of every best response with its own teammate, a share of whose actions is random."""
    teammates, responses = both_seats(population)
    noisy = NoisyPolicies(teammates, share, game.n_actions)
    own = torch.arange(population.n_types)[:, None].expand(-1, 2)
    return float(play_pairs(game, noisy, responses, own, episodes, generator).returns.mean())


def parse_seeds(text: str) -> list[int]:
    """Read seeds as a list of numbers and ranges.

    >>> parse_seeds("0-3,7,2")
    [0, 1, 2, 3, 7]
    """
    seeds: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise UserError(f"seeds {text!r}: give numbers and ranges, as in 0-9 or 1,4,7")
        seeds += range(int(first), int(last or first) + 1)
    if not seeds:
        raise UserError(f"seeds {text!r} names none")
    return list(dict.fromkeys(seeds))
