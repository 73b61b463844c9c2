"""`brdiv seeds`."""

from pathlib import Path
from typing import TYPE_CHECKING

from brdiv.commands.line.checks import check_at_least, check_output_folder, writing
from brdiv.commands.line.many import check_fit_options, share_cores

if TYPE_CHECKING:
    from brdiv.runs import RunFolder


def seeds(
    *,
    config: list[str],
    seeds: str = "0-9",
    jobs: int | None = None,
    episodes: int = 1000,
    folder: Path | None = None,
    allow_imports: bool = False,
    fit_options: list[str],
) -> None:
    """Train one config with many seeds and tabulate how often it works.

    Example: `brdiv seeds --config configs/reaching.yaml --seeds 0-9`

    Options that are not listed here go to `brdiv fit`. Seeds that are done are not trained again, and those
    that were interrupted resume from their last checkpoint.

    Args:
        config: Config file, or several, of which later ones win.
        seeds: Numbers and ranges, as in 0-9 or 1,4,7.
        jobs: How many seeds to train at a time; as many as there are cores if no number is given. They share the cores.
        episodes: Number of episodes of each pair to measure a population with.
        folder: Folder for the runs; runs/seeds-<config> if none is given.
        allow_imports: Import what population files name that were in the folder before.
        fit_options: Further options of `brdiv fit`.

    """
    check_fit_options(fit_options, jobs)
    check_at_least(1, episodes=episodes)

    from brdiv.configs import find_config
    from brdiv.evaluation.seeds import parse_seeds
    from brdiv.evaluation.tables import print_seeds
    from brdiv.runs import RunFolder
    from brdiv.study.many import train_seeds

    configs = [find_config(name) for name in config]
    numbers = parse_seeds(seeds)
    jobs, threads = share_cores(jobs, len(numbers))
    folder = folder or Path("runs", "seeds-" + "-".join(path.stem for path in configs))
    check_output_folder(folder)
    passed_on = [part for path in configs for part in ("--config", str(path))] + fit_options
    print(f"training {len(numbers)} seeds, {jobs} at a time; logs are in {folder}")
    results = print_seeds(train_seeds(numbers, folder, passed_on, jobs, threads, episodes, allow_imports))
    draw({str(result.seed): RunFolder(result.run) for result in results}, folder)


def draw(runs: "dict[str, RunFolder]", folder: Path) -> None:
    """Draw how the populations came about as `phases.png`, from what the runs wrote while they trained."""
    from brdiv.figures import phase_chart
    from brdiv.runs.phases import read_phases

    phases = {f"seed {seed}": found for seed, run in runs.items() if (found := read_phases(run)) is not None}
    if phases:
        with writing(folder):
            phase_chart(phases, folder.name).savefig(folder / "phases.png", dpi=150)
        print(f"picture     {folder / 'phases.png'}")
