"""One config or several methods, many seeds: cells without a study's file, measured as they are done."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from brdiv.errors import UserError
from brdiv.evaluation.seeds import SeedResult, measure
from brdiv.study.cells import DONE, Cell, State
from brdiv.study.local import LocalPool, train_cells


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

    Seeds that finished before are not trained again; those that were interrupted resume from their last checkpoint.
    Each one's output goes to ``folder/seed<N>.log``.
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
    cells = [Cell(folder / name, seed, "", name, threads, tuple(methods[name])) for name in methods for seed in seeds]
    there_before = {cell for cell in cells if cell.finished_steps() is not None}
    found: dict[Cell, State] = {}
    with closing(train_cells(cells, LocalPool(jobs))) as ended:
        for cell in cells:
            while cell not in found:
                found.update([next(ended)])
            state = found[cell]
            if state.state != DONE:
                raise UserError(f"seed {cell.seed} failed: {state.why or 'it was stopped'} (all of it: {cell.log})")
            allowed = allow_imports or cell not in there_before
            yield cell.method, measure(cell.seed, cell.run.population, episodes, allowed)


def claim_settings(folder: Path, fit_arguments: Sequence[str]) -> None:
    """Refuse a folder that holds runs with other settings: they would be taken for results of these."""
    texts = [Path(part).read_text() if Path(part).is_file() else part for part in fit_arguments]
    settings, path = json.dumps(texts, indent=1), folder / "settings.json"
    unknown = not path.exists() and any(folder.glob("seed*"))
    if unknown or (path.exists() and path.read_text() != settings):
        raise UserError(f"{folder} holds runs with other settings; choose another --folder, or remove it")
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(settings)
