"""`brdiv bounds`."""

import itertools
from pathlib import Path

from brdiv.commands.line.checks import check_at_least, check_output_folder, check_seed
from brdiv.commands.line.cores import use_threads, warn_if_crowded
from brdiv.errors import MOST_STEPS, UserError


def bounds(
    populations: list[Path],
    steps: int | None = None,
    episodes: int = 500,
    gamma: float = 1.0,
    seed: int = 0,
    threads: int = 2,
    products: str = "auto",
    allow_imports: bool = False,
    out: Path | None = None,
    *,
    fit_options: list[str],
) -> None:
    """Tell how many best responses a population needs, by training one to every pair of its teams.

    Example: `brdiv bounds runs/reaching-brdiv-seed0`

    If one response earns with two teams at least 95 % of what each earns with its own, it serves both, and their
    difference is superficial.

    Args:
        populations: Population files, run folders, or folders of runs; or names of games, for a best response to each
            of their heuristics: what is possible with it.
        steps: Environment steps to train every response for; what the game asks for if no number is given.
        episodes: Number of complete episodes to measure every response with each of its teams.
        gamma: Discount of the returns that are compared. 1 compares those of the cross-play matrix; below it, a
            response that takes longer serves less.
        seed: Seed of training and of the episodes.
        threads: Number of CPU threads that torch may use.
        products: Library that multiplies matrices: blas, onednn or both. `auto` measures which is fastest at full
            precision; to repeat figures bit for bit on another machine, name one.
        allow_imports: Import the custom game or external environment that a trusted file names.
        out: Folder for tables and figures, bounds-<number> if none is given; given again, it is gone on with.
        fit_options: Further options of `brdiv learn`, which trains the best responses to heuristics.

    """
    check_at_least(1, MOST_STEPS, steps=1 if steps is None else steps)
    check_at_least(1, episodes=episodes, threads=threads)
    check_seed(seed)
    if not 0 < gamma <= 1:
        raise UserError(f"gamma is {gamma:g}: it must lie above 0, and be at most 1")
    check_output_folder(out or Path())

    from brdiv.commands.line.game_bounds import Budget, are_games, bound_games

    if are_games(names := [str(path) for path in populations]):
        bound_games(names, Budget(steps, episodes, seed, threads), out, fit_options)
        return
    if fit_options:
        raise UserError(f"unrecognized arguments: {' '.join(fit_options)}")

    import torch

    from brdiv.bounds.measure import check_teams
    from brdiv.commands.line.population_bounds import Asked, bound_populations
    from brdiv.evaluation.runs import load_runs
    from brdiv.training.products import Products

    Products(products)  # refused before anything is loaded
    runs = load_runs(populations, allow_imports)
    for run in runs:
        check_teams(run.population.n_types)
    torch.set_num_threads(use_threads(threads))
    warn_if_crowded(torch.get_num_threads())
    out = out or next(folder for number in itertools.count(1) if not (folder := Path(f"bounds-{number}")).exists())
    bound_populations(runs, Asked(steps, episodes, gamma, seed, products), out)
