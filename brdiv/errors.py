"""What whoever runs brdiv can mend, and what nobody may ask for."""

LARGEST_SEED = 2**32 - 1  # numpy's random generators take no larger one


class UserError(ValueError):
    """A mistake in what was asked for: a setting, a file, a name. The message says in one line what is wrong.

    The command line prints that line alone. Any other exception is a mistake in code, brdiv's or a custom game's, and
    keeps its traceback.
    """


class MissingFileError(UserError, FileNotFoundError):
    """A file or folder that was named isn't there."""
