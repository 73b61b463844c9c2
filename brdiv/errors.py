"""What whoever runs brdiv can mend, and what nobody may ask for."""

LARGEST_SEED = 2**32 - 1  # numpy's random generators take no larger one
LEAST_NUMBER, LARGEST_NUMBER = 1e-30, 1e30  # beside 0: float32 can multiply, divide and add up those
MOST_STEPS = 2**53  # whole numbers up to here are the same in every program that reads JSON


class UserError(ValueError):
    """A mistake in what was asked for: a setting, a file, a name. The message says in one line what is wrong.

    The command line prints that line alone. Any other exception is a mistake in code, brdiv's or a custom game's, and
    keeps its traceback.
    """


class MissingFileError(UserError, FileNotFoundError):
    """A file or folder that was named isn't there."""
