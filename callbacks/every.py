"""When something is done that comes round every so many environment steps."""

import math

from brdiv.errors import UserError


class EverySteps:
    """Comes round every so many environment steps; never, if that is 0."""

    def __init__(self, every: int) -> None:
        self.every = every
        self.next: float = every or math.inf

    def start_from(self, step: int, first: float = math.inf) -> None:
        """Count from a step: the next multiple is the next time.

        So is ``first``, for whoever should not have to wait for the first multiple. It depends on nothing that has
        happened: a run that resumes comes to the same times as one that was left alone.
        """
        multiple = (step // self.every + 1) * self.every if self.every else math.inf
        wanted = step < first < (self.every or math.inf)
        self.next = first if wanted else multiple

    def reached(self, step: int) -> bool:
        """Whether it is time at a step."""
        return step >= self.next


def check_least(owner: str, **settings: tuple[float, float]) -> None:
    """Refuse settings, each given with the least it may be."""
    for name, (value, least) in settings.items():
        if not value >= least:
            raise UserError(f"{owner}.{name} is {value}: it must be at least {least}")
