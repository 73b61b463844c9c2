"""When something is done that comes round every so many environment steps."""

from brdiv.errors import UserError


class EverySteps:
    """Comes round every so many environment steps; never, if that is 0."""

    def __init__(self, every: int) -> None:
        self.every = every
        self.next = every

    def start_from(self, step: int) -> None:
        """Count from a step: the next multiple is the next time."""
        self.next = (step // self.every + 1) * self.every if self.every else 0

    def reached(self, step: int) -> bool:
        """Whether it is time at a step."""
        return bool(self.every) and step >= self.next


def check_least(owner: str, **settings: tuple[float, float]) -> None:
    """Refuse settings, each given with the least it may be."""
    for name, (value, least) in settings.items():
        if value < least:
            raise UserError(f"{owner}.{name} is {value}: it must be at least {least}")
