"""What the settings of a game may be at most, so that no table that follows from them outgrows a machine."""

from brdiv.errors import UserError

LARGEST_GRID = 48  # tables of a grid grow with the third and fourth power of its size
LONGEST_EPISODE = 1_000_000


def check_whole(name: str, value: object, least: int, most: int) -> None:
    """Refuse what is no whole number in a range."""
    if type(value) is not int or not least <= value <= most:
        raise UserError(f"{name} is {str(value)[:40]}: it must be a whole number from {least} to {most:,}")


def check_horizon(horizon: object) -> None:
    """Refuse episodes of no step, or without end."""
    check_whole("horizon", horizon, 1, LONGEST_EPISODE)
