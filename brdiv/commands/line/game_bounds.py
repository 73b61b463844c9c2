"""What is possible with the heuristics of a game, found by training a best response to each, and written beside it."""

import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from brdiv.commands.line.checks import writing
from brdiv.commands.line.cores import use_threads, warn_if_crowded
from brdiv.commands.line.many import check_not_set
from brdiv.errors import UserError

if TYPE_CHECKING:
    from brdiv.learners.bounds import Bound

STEPS = {"Reaching": 2_000_000, "LBF": 2_000_000, "Cooking": 4_000_000}
"""Environment steps to train each best response for."""
CONFIG = "learners/ppo"
TAKEN = ["--teammates", "--run", "--ckpt_path", "--data.game", "--data.steps", "--data.seed", "--data.teammates"]
TAKEN += ["--seed_everything", "--threads"]
"""Options of `brdiv learn` that are set for every best response."""


class Budget(NamedTuple):
    """How best responses are trained and measured."""

    steps: int | None  # of each; what the game takes if no number is given
    episodes: int
    seed: int
    threads: int

    def steps_of(self, game: str) -> int:
        """Environment steps of each best response."""
        return self.steps or STEPS[game]

    def command(self, game: str, options: Sequence[str]) -> str:
        """Write the command that does it again."""
        said = f"brdiv bounds {game} --steps {self.steps_of(game)} --episodes {self.episodes} --seed {self.seed}"
        return " ".join([said, *options])


def are_games(names: list[str]) -> bool:
    """Whether names are those of shipped games, and not of files."""
    from brdiv.games import shipped_games

    known = [name in shipped_games() and not Path(name).exists() for name in names]
    if any(known) and not all(known):
        raise UserError("name games or populations, not both at once")
    return any(known)


def bound_games(names: list[str], budget: Budget, out: Path | None = None, options: Sequence[str] = ()) -> None:
    """Train a best response to every heuristic of some games, and measure it.

    Every one is a run of `brdiv learn`, with further ``options``, in the folder ``out`` or `runs/bounds`: those that
    are done are left alone, and those that were interrupted resume. Bounds go to ``out``, or beside the games, when all
    of a game's are there.
    """
    import torch

    from brdiv.evaluation.agents import find_game
    from brdiv.evaluation.bounds import FOLDER
    from brdiv.learners.bounds import heuristic_names, write_bounds

    check_not_set(TAKEN, options, "each best response")
    games = {name: find_game(name) for name in names}
    torch.set_num_threads(use_threads(budget.threads))
    warn_if_crowded(torch.get_num_threads())
    runs = out or Path("runs", "bounds")
    for name, game in games.items():
        print(f"{name}: a best response to each heuristic, {budget.steps_of(name):,} steps each; runs are in {runs}")
        found = [bound_one(name, who, budget, runs / name.lower(), options) for who in heuristic_names(game)]
        path = (out or FOLDER) / f"{name.lower()}.json"
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            made_with = {
                "command": budget.command(name, options),
                **{"steps": budget.steps_of(name), "episodes": budget.episodes, "seed": budget.seed},
            }
            write_bounds(path, game, found, made_with)
        print(f"bounds      {path}")


def bound_one(game: str, teammate: str, budget: Budget, folder: Path, options: Sequence[str]) -> "Bound":
    """Train the best response to one heuristic, or what is left of it, then measure and tell what it earns."""
    from brdiv.evaluation.bounds import is_hopeless
    from brdiv.learners.bounds import measure_bound
    from brdiv.runs import load_learner

    run = folder / teammate
    train_response(game, teammate, budget, run, options)
    response = load_learner(run)
    if not response.about["finished"]:
        raise UserError(f"{run} holds a learner whose training was not finished; run the same command again")
    bound = measure_bound(response, teammate, budget.episodes, budget.seed)
    told = "  nobody can play with it" if is_hopeless(bound.mean_return) else ""
    length = f"{bound.mean_length:.1f} steps"
    print(f"  {teammate:4} {bound.mean_return:.3f} +- {bound.half_width:.3f}, {length}{told}", flush=True)
    return bound


def train_response(game: str, teammate: str, budget: Budget, run: Path, options: Sequence[str]) -> None:
    """Run `brdiv learn` with one teammate, in this process; what it says goes beside its folder."""
    from brdiv.commands.learn import learn

    said = {
        "--teammates": teammate,
        "--data.game": game,
        "--data.steps": budget.steps_of(game),
        "--seed_everything": budget.seed,
        "--threads": budget.threads,
        "--evaluation.every": 0,
        "--evaluation.final_episodes": 1,  # it is measured afterwards
        "--run": run,
        "--ckpt_path": "auto",
    }
    arguments = [str(part) for pair in said.items() for part in pair]
    with writing(run):
        run.parent.mkdir(parents=True, exist_ok=True)
        log = run.with_suffix(".log").open("a", encoding="utf-8")
    try:
        with log, redirect_stdout(log), redirect_stderr(log):
            # What is set here comes last: a config among the options may say otherwise, and would be believed.
            learn(["--config", CONFIG, *options, *arguments])
    except SystemExit:
        print(f"stopped: run the same command again to go on from there (all of it: {run}.log)", file=sys.stderr)
        raise
