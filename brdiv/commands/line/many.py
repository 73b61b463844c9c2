"""What commands share that train many runs."""

from collections.abc import Sequence

from brdiv.commands.line.checks import check_at_least
from brdiv.commands.line.cores import usable_cores, use_threads, warn_if_crowded
from brdiv.errors import UserError


def check_fit_options(fit_options: Sequence[str], jobs: int | None) -> None:
    """Refuse options that are set for each run."""
    check_at_least(1, jobs=1 if jobs is None else jobs)
    for taken in ("--seed_everything", "--run", "--threads"):
        if any(part.split("=")[0] == taken for part in fit_options):
            raise UserError(f"{taken} is set for each seed by this command")


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
