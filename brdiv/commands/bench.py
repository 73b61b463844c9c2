"""`brdiv bench`."""

from pathlib import Path

from brdiv.commands.line.checks import check_at_least, check_output_folder
from brdiv.commands.line.cores import usable_cores, use_threads, warn_if_crowded
from brdiv.errors import UserError


def bench(
    *,
    config: list[str] | None = None,
    updates: int = 200,
    repeats: int = 3,
    rows: int = 4096,
    scaling: Path | None = None,
    against: str | None = None,
    single: bool = False,
    vector: int = 0,
    learner: bool = False,
    threads: int = 2,
    fit_options: list[str],
) -> None:
    """Measure how fast training is, or games are.

    Example: `brdiv bench --config configs/lbf.yaml`

    With a config: several runs of `brdiv fit` side by side, then one against the mathematics of its networks alone (the
    floor) and against what this machine can multiply at all (the limit); options that are not listed here go to `brdiv
    fit`. With --learner, one run of `brdiv learn`, to which they go then. Without a config: how fast games step with
    random play; with --vector, how fast LBF's vector environment with a teammate inside does, beside `lbforaging` in
    Stable-Baselines3's where both are installed.

    Args:
        config: Config file, or several, of which later ones win.
        updates: Number of updates to time in each repeat, in stretches of 20.
        repeats: Number of repeats, of which the best counts.
        rows: Number of rows to step at once, without a config.
        scaling: Folder for tables and figures of how speed follows rows, K and threads, 20 updates each.
        against: Python of another version's environment: both versions train in turn, on one thread and on all of them.
        single: Measure one run alone, and not several side by side, too.
        learner: Measure `brdiv learn`, not `brdiv fit`.
        vector: Number of environments of the vector environment to step, without a config; 0 for none.
        threads: Number of CPU threads that torch may use.
        fit_options: Further options of `brdiv fit`.

    """
    check_at_least(0, vector=vector)
    check_at_least(1, updates=updates, repeats=repeats, rows=rows, threads=threads)
    check_output_folder(scaling)
    if learner and (config is None or scaling):
        raise UserError("learner needs a config, learners/ppo say, and goes without scaling")
    if config is None:
        if fit_options:
            raise UserError(f"unrecognized arguments: {' '.join(fit_options)}")
        if scaling or against:
            raise UserError(f"{'scaling' if scaling else 'against'} needs a config")
        if vector:
            bench_vector(vector, threads, repeats)
        else:
            bench_games(rows, threads)
        return
    if vector:
        raise UserError("vector is without a config: its networks are those of configs/lbf.yaml")
    passed_on = [part for name in config for part in ("--config", name)] + fit_options
    if learner:
        bench_learner([*passed_on, "--threads", str(threads)], updates, repeats)
    elif scaling:
        from brdiv.benchmarks.scaling import run_scaling

        run_scaling(passed_on, scaling)
    elif against:
        from brdiv.benchmarks.against import print_against
        from brdiv.commands.line import turns

        print_against(against, turns.__file__, passed_on, sorted({1, threads}), updates)
    else:
        if not single:
            bench_together(passed_on, updates)
        bench_training([*passed_on, "--threads", str(threads)], updates, repeats)


def bench_learner(options: list[str], updates: int, repeats: int) -> None:
    """Print how fast `brdiv learn` with these options is."""
    import sys
    from functools import partial

    from brdiv.benchmarks.learning import measure_learning, print_learning
    from brdiv.callbacks import RunStopped
    from brdiv.commands.line.learning import build_learner

    try:
        print_learning(measure_learning(partial(build_learner, options), updates, repeats))
    except RunStopped as stop:
        sys.exit(128 + stop.signum)


def bench_together(fit_options: list[str], updates: int) -> None:
    """Print how fast several runs with these options are side by side."""
    from brdiv.benchmarks.together import measure_together, print_together

    print_together(measure_together(fit_options, usable_cores(), updates))


def bench_games(rows: int, threads: int) -> None:
    """Print how fast every shipped game steps."""
    import torch

    from brdiv.benchmarks.games import stepping_speed
    from brdiv.games import shipped_games

    torch.set_num_threads(threads := use_threads(threads))
    warn_if_crowded(threads)
    print(f"{rows} rows, {threads} threads, best of 5; environment steps per second")
    print(f"{'game':10} {'rules alone':>12} {'TorchRL environment':>20}")
    for name, game in shipped_games().items():
        speed = stepping_speed(game(), rows)
        print(f"{name:10} {speed.rules:>12,.0f} {speed.environment:>20,.0f}")


def bench_vector(environments: int, threads: int, repeats: int) -> None:
    """Print how fast LBF's vector environment is, and the usual way beside it where that is installed."""
    from importlib.util import find_spec

    from brdiv.benchmarks.vector_env import print_vector_speeds
    from brdiv.games import LBF

    threads = use_threads(threads)
    warn_if_crowded(threads)
    compare = all(find_spec(name) is not None for name in ("lbforaging", "stable_baselines3"))
    print_vector_speeds(LBF(), environments, threads, repeats, compare)


def bench_training(fit_options: list[str], updates: int, repeats: int) -> None:
    """Print how fast `brdiv fit` with these options is."""
    import sys
    from functools import partial

    from brdiv.benchmarks.training import measure_training, print_bench
    from brdiv.callbacks import RunStopped
    from brdiv.commands.line.training import build_parts

    try:
        print_bench(measure_training(partial(build_parts, fit_options), updates, repeats))
    except RunStopped as stop:
        sys.exit(128 + stop.signum)
