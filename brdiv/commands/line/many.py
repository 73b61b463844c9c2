"""What commands share that train many runs."""

from collections.abc import Sequence

from brdiv.commands.line.checks import check_at_least
from brdiv.commands.line.cores import use_threads, warn_if_crowded
from brdiv.errors import UserError


def check_fit_options(fit_options: Sequence[str], jobs: int) -> None:
    """Refuse options that are set for each run."""
    check_at_least(1, jobs=jobs)
    for taken in ("--seed_everything", "--run", "--threads"):
        if any(part.split("=")[0] == taken for part in fit_options):
            raise UserError(f"{taken} is set for each seed by this command")


def use_jobs(jobs: int) -> int:
    """Return how many runs to train at a time, on a thread each: no more than cores. This process takes one, too."""
    import torch

    torch.set_num_threads(1)
    jobs = use_threads(jobs, "jobs")
    warn_if_crowded(jobs)
    return jobs
