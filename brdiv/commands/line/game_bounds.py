"""What is possible with the heuristics of a game, found by training and written beside the game."""

from pathlib import Path

from brdiv.commands.line.checks import writing
from brdiv.commands.line.cores import use_threads, warn_if_crowded
from brdiv.errors import UserError

STEPS = {"Reaching": 1_000_000, "LBF": 2_000_000, "Cooking": 4_000_000}
"""Environment steps to train each best response for."""


def are_games(names: list[str]) -> bool:
    """Whether names are those of shipped games, and not of files."""
    from brdiv.games import shipped_games

    known = [name in shipped_games() and not Path(name).exists() for name in names]
    if any(known) and not all(known):
        raise UserError("name games or populations, not both at once")
    return any(known)


def bound_games(
    names: list[str], steps: int | None, episodes: int, seed: int, threads: int, out: Path | None = None
) -> None:
    """Train a best response to every heuristic of some games; bounds go to the folder ``out``, or beside the games."""
    import torch

    from brdiv.commands.line.training import quieten
    from brdiv.evaluation.agents import find_game
    from brdiv.evaluation.bounds import FOLDER, is_hopeless
    from brdiv.learners.bounds import Bound, heuristic_bounds, write_bounds

    quieten()
    torch.set_num_threads(use_threads(threads))
    warn_if_crowded(torch.get_num_threads())
    games = {name: find_game(name) for name in names}
    folder = out or FOLDER
    for name, game in games.items():
        budget = steps or STEPS[name]
        path = folder / f"{name.lower()}.json"
        print(f"{name}: a best response to each heuristic, {budget:,} steps each")
        found: list[Bound] = []
        for bound in heuristic_bounds(game, budget, episodes, seed):
            found.append(bound)
            told = "  nobody can play with it" if is_hopeless(bound.mean_return) else ""
            length = f"{bound.mean_length:.1f} steps"
            print(f"  {bound.teammate:4} {bound.mean_return:.3f} +- {bound.half_width:.3f}, {length}{told}", flush=True)
            with writing(path):  # after each one, so that what is done is not lost
                folder.mkdir(parents=True, exist_ok=True)
                write_bounds(path, game, found, steps=budget, episodes=episodes, seed=seed)
        print(f"bounds      {path}")
