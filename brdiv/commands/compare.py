"""`brdiv compare`."""

from pathlib import Path

from brdiv.commands.line.checks import check_at_least, check_output_folder, writing
from brdiv.commands.line.many import check_fit_options, share_cores
from brdiv.errors import UserError


def compare(
    *,
    config: str,
    methods: list[str] = ["base", "independent"],  # noqa: B006
    seeds: str = "0-2",
    jobs: int | None = None,
    episodes: int = 1000,
    folder: Path | None = None,
    allow_imports: bool = False,
    fit_options: list[str],
) -> None:
    """Train several methods on one game with several seeds each, and tabulate their populations.

    Example: `brdiv compare --config configs/reaching.yaml --methods base lipo`

    Options that are not listed here go to `brdiv fit`. Runs that are done are not trained again, and those that
    were interrupted resume from their last checkpoint.

    Args:
        config: Config file of the game.
        methods: `base` for the config as it stands, names of shipped methods (configs/methods), or config files.
        seeds: Numbers and ranges, as in 0-9 or 1,4,7.
        jobs: How many runs to train at a time; as many as there are cores if no number is given. They share the cores.
        episodes: Number of episodes of each pair to measure a population with.
        folder: Folder for the runs; runs/compare-<config> if none is given.
        allow_imports: Import what population files name that were in the folder before.
        fit_options: Further options of `brdiv fit`.

    """
    check_fit_options(fit_options, jobs)
    check_at_least(1, episodes=episodes)

    from brdiv.configs import find_config
    from brdiv.evaluation.seeds import parse_seeds
    from brdiv.evaluation.tables import print_methods
    from brdiv.study.many import train_methods
    from brdiv.study.plan import method_configs, stem

    base = find_config(config)
    arguments: dict[str, list[str]] = {}
    for name in methods:
        key = stem(name)
        if key in arguments:
            raise UserError(f"methods: two of them are called {key}")
        arguments[key] = [part for path in (base, *method_configs(name)) for part in ("--config", str(path))]
        arguments[key] += fit_options
    numbers = parse_seeds(seeds)
    jobs, threads = share_cores(jobs, len(numbers) * len(arguments))
    folder = folder or Path("runs", f"compare-{base.stem}")
    check_output_folder(folder)
    print(f"training {len(arguments) * len(numbers)} runs, {jobs} at a time; logs are in {folder}")
    with writing(folder):
        results = train_methods(arguments, numbers, folder, jobs, threads, episodes, allow_imports)
        print_methods(results, folder)
