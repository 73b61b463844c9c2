"""How many best responses populations need: trained so that it resumes, told and drawn."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from brdiv.bounds.training import Fit, ResponsesData, ResponsesModule, Teller, make_trainer
from brdiv.callbacks import Checkpoints, RunStopped
from brdiv.commands.line.checks import writing
from brdiv.commands.line.rehearsal import check_resumed
from brdiv.commands.line.training import quieten
from brdiv.errors import UserError
from brdiv.runs import CheckpointFileError, RunFolder
from brdiv.runs.lock import unlock_all
from brdiv.runs.population_file import checksum
from brdiv.runs.resume import claim_checkpoint

if TYPE_CHECKING:
    from rich.console import Console

    from brdiv.bounds.written import Judged
    from brdiv.evaluation.runs import Run

MINUTES = 1.0  # between two checkpoints


class Asked(NamedTuple):
    """How responses are trained and measured."""

    steps: int | None  # of each; what the game takes if no number is given
    episodes: int
    gamma: float
    seed: int
    products: str


def bound_populations(runs: "Sequence[Run]", asked: Asked, out: Path) -> None:
    """Find how many best responses each population needs; what was done before in the folder ``out`` stands."""
    from rich.console import Console

    from brdiv.bounds.written import Judged, print_bounds, print_summary, write_shares, write_summary

    quieten()
    console = Console(highlight=False)
    judged: list[Judged] = []
    for run in runs:
        judged.append(judge(run, asked, out, console))
        print_bounds(judged[-1], console)
        with writing(out):  # after each one, so that what is done can be looked at
            write_shares(judged, out / "shares.csv")
            write_summary(judged, out / "summary.csv")
            draw(judged[-1], out / (f"shares-{len(judged)}.png" if len(runs) > 1 else "shares.png"))
    if len(runs) > 1:
        print_summary(judged, console)
    print(f"every share  {out}/shares.csv, {out}/summary.csv")
    print(f"figures      {out}/shares{'-<number>' * (len(runs) > 1)}.png")


def judge(run: "Run", asked: Asked, out: Path, console: "Console") -> "Judged":
    """Train what is not trained yet, and measure everything."""
    from brdiv.bounds.measure import find_bounds
    from brdiv.bounds.progress import TrainingProgress
    from brdiv.bounds.training import Settings
    from brdiv.bounds.written import Judged

    settings = Settings(steps=asked.steps or run.game.response_steps, gamma=min(asked.gamma, 0.99))
    weights = checksum(run.population.state_dict().items())
    try:
        with TrainingProgress(console) as progress:
            fit = keeping(out / "training" / weights[:12])
            sizes = (asked.episodes, asked.seed, progress.tell, asked.gamma)
            found = find_bounds(run.population, run.game, settings, *sizes, fit, asked.products)
    except RunStopped as stop:
        print(f"{stop}; the same command with --out {out} goes on from there", file=sys.stderr)
        sys.exit(128 + stop.signum)
    finally:
        unlock_all()
    return Judged(run.name, run.method, run.seed, found)


def keeping(folder: Path) -> Fit:
    """Train with checkpoints in a folder, one for each seed: what is done is loaded, what was stopped is resumed."""

    def fit(module: ResponsesModule, data: ResponsesData, teller: Teller) -> None:
        run = RunFolder(folder / f"seed{data.seed}")
        with writing(run.path):
            run.path.mkdir(parents=True, exist_ok=True)
        run.lock()
        checkpoints = Checkpoints(every=0, minutes=MINUTES, keep=1)
        trainer = make_trainer([teller, checkpoints], default_root_dir=str(run))
        if not run.numbered_checkpoints():
            trainer.fit(module, datamodule=data)
            return
        path, _, found = claim_checkpoint("last", run.path, run.path)
        try:
            check_resumed(found, path, trainer, module, data)
        except CheckpointFileError as error:
            raise UserError(f"{error}; choose another --out, or remove that folder") from None
        if found["env_steps"] < data.steps:
            trainer.fit(module, datamodule=data, ckpt_path=str(path), weights_only=True)
        else:
            module.load_state_dict(found["state_dict"])

    return fit


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
