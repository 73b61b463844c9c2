"""`brdiv bounds`."""

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

from brdiv.commands.line.checks import check_at_least, check_output_folder, writing
from brdiv.commands.line.cores import use_threads, warn_if_crowded
from brdiv.errors import UserError

if TYPE_CHECKING:
    from brdiv.bounds.written import Judged


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
        out: Folder for tables and figures; bounds-<number> if none is given.

    """
    check_at_least(1, steps=1 if steps is None else steps, episodes=episodes, threads=threads)
    check_at_least(0, seed=seed)
    if not 0 < gamma <= 1:
        raise UserError(f"gamma is {gamma:g}: it must lie above 0, and be at most 1")
    check_output_folder(out or Path())

    from brdiv.commands.line.game_bounds import are_games, bound_games

    if are_games(names := [str(path) for path in populations]):
        bound_games(names, steps, episodes, seed, threads, out)
        return

    import torch
    from rich.console import Console

    from brdiv.bounds.measure import check_teams, find_bounds
    from brdiv.bounds.progress import TrainingProgress
    from brdiv.bounds.training import Settings, choose
    from brdiv.bounds.written import Judged, print_bounds, print_summary, write_shares, write_summary
    from brdiv.evaluation.runs import load_runs
    from brdiv.training.products import USES, Products, multiplied

    way = Products(products)
    runs = load_runs(populations, allow_imports)
    for run in runs:
        check_teams(run.population.n_types)
    torch.set_num_threads(use_threads(threads))
    warn_if_crowded(torch.get_num_threads())
    out = out or next(folder for number in itertools.count(1) if not (folder := Path(f"bounds-{number}")).exists())
    console = Console(highlight=False)
    judged: list[Judged] = []
    for run in runs:
        settings = Settings(steps=steps or run.game.response_steps, gamma=min(gamma, 0.99))
        with TrainingProgress(console) as progress, multiplied(USES[choose(way, run.population)][0]):
            found = find_bounds(run.population, run.game, settings, episodes, seed, progress.tell, gamma)
        judged.append(Judged(run.name, run.method, run.seed, found))
        print_bounds(judged[-1], console)
        with writing(out):  # after each one, so that what is done is not lost
            write_shares(judged, out / "shares.csv")
            write_summary(judged, out / "summary.csv")
            draw(judged[-1], out / (f"shares-{len(judged)}.png" if len(runs) > 1 else "shares.png"))
    if len(runs) > 1:
        print_summary(judged, console)
    print(f"every share  {out}/shares.csv, {out}/summary.csv")
    print(f"figures      {out}/shares{'-<number>' * (len(runs) > 1)}.png")


def draw(judged: "Judged", path: Path) -> None:
    """Draw the matrix of a population."""
    from brdiv.bounds.measure import ENOUGH
    from brdiv.bounds.written import count
    from brdiv.figures import share_heatmap

    bounds = judged.bounds
    summary = f"best responses needed: {count(bounds)} for {len(bounds.able)} teams"
    if bounds.too_short:
        summary += "\ntraining was too short to conclude anything"
    share_heatmap(bounds.matrix(), ENOUGH, f"{judged.name}\n{summary}").savefig(path, dpi=150)
