"""What commands share that train many runs."""

from collections.abc import Collection, Sequence

from brdiv.commands.line.checks import check_at_least
from brdiv.commands.line.cores import usable_cores, use_threads, warn_if_crowded
from brdiv.errors import UserError


def check_fit_options(fit_options: Sequence[str], jobs: int | None) -> None:
    """Refuse options that are set for each run."""
    check_at_least(1, jobs=1 if jobs is None else jobs)
    check_not_set(("--seed_everything", "--run", "--threads"), fit_options, "each seed")


def check_not_set(taken: Collection[str], options: Sequence[str], what: str) -> None:
    """Refuse options that a command sets itself for each of what it trains."""
    for name in (part.split("=")[0] for part in options):
        if name in taken:
            raise UserError(f"{name} is set for {what} by this command")


def share_cores(jobs: int | None, runs: int) -> tuple[int, int]:
    """Return how many of so many runs to train at a time, and on how many threads each.

    By default, or at most, there are as many as cores: two runs with a thread each do 1.3 to 1.7 times the work of one
    with two. What this process measures afterwards takes one thread.
    """
    import torch

    torch.set_num_threads(1)
    cores = usable_cores()
    jobs = min(cores if jobs is None else use_threads(jobs, "jobs"), runs)
    threads = cores // jobs
    warn_if_crowded(jobs * threads)
    return jobs, threads
