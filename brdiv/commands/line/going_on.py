"""`--ckpt_path auto`: begin a run, go on with it, or leave it alone, whichever it needs."""

import shutil
from collections.abc import Sequence

from brdiv.errors import UserError
from brdiv.runs import RunFolder, about_learner, is_first_process
from brdiv.runs.folder import LEFTOVERS
from brdiv.runs.lock import NAME, lock_folder, unlock_folder

AUTO = "auto"
OPTION, RUN = "--ckpt_path", "--run"
BEGUN = ("config.yaml", "hparams.yaml", "events.out.tfevents.*", "checkpoints", "learner.safetensors", *LEFTOVERS)
"""What a run has written that was killed before its first checkpoint."""
OWN = ("run", "threads", "ckpt_path", "checkpoints", "progress", "throughput")
"""Settings that may differ when a command is repeated: what is trained does not depend on them."""


def with_standing(arguments: Sequence[str]) -> list[str] | None:
    """Replace `--ckpt_path auto` by what the run folder needs; None if there is nothing left to train.

    Whoever trains many runs then repeats one command until all are done.
    """
    if value_of(OPTION, arguments) != AUTO:
        return list(arguments)
    folder = value_of(RUN, arguments)
    if folder is None:
        raise UserError("ckpt_path is auto: say with --run which folder to begin, or to go on with")
    run = RunFolder(folder)
    rest = without(OPTION, arguments)
    steps = finished_steps(run)
    if steps is not None:
        check_same(run, steps, rest)
        print(f"{run} is done, {steps:,} steps")
        return None
    if run.numbered_checkpoints():
        return [*rest, OPTION, "last"]
    if is_first_process():
        clear(run)
    return rest


def value_of(option: str, arguments: Sequence[str]) -> str | None:
    """Return what is said of an option, last; None if nothing is.

    >>> value_of("--run", ["--run", "a", "--run=b"])
    'b'
    """
    found = None
    for place, argument in enumerate(arguments):
        if argument == option and place + 1 < len(arguments):
            found = arguments[place + 1]
        elif argument.startswith(f"{option}="):
            found = argument.removeprefix(f"{option}=")
    return found


def without(option: str, arguments: Sequence[str]) -> list[str]:
    """Leave an option and its value out.

    >>> without("--run", ["--run", "a", "--threads", "1", "--run=b"])
    ['--threads', '1']
    """
    values = {place + 1 for place, argument in enumerate(arguments) if argument == option}
    return [
        argument
        for place, argument in enumerate(arguments)
        if place not in values and argument != option and not argument.startswith(f"{option}=")
    ]


def finished_steps(run: RunFolder) -> int | None:
    """Return the steps of a learner's run if it is over.

    Its last checkpoint appears when all else is written. Where there is none at all, and none half written, someone has
    cleared up; a learner that can't be read is refused then, because nothing else is left of the run.
    """
    kept = run.numbered_checkpoints()
    cleared_up = not kept and not any(run.path.glob("checkpoints/*.part"))
    try:
        about = about_learner(run.learner)
    except UserError:
        if run.learner.exists() and cleared_up:
            raise
        return None
    steps = int(about.get("steps", 0))
    return steps if about.get("finished") and (steps in kept or cleared_up) else None


def check_same(run: RunFolder, steps: int, arguments: Sequence[str]) -> None:
    """Refuse to call a run done that was trained with other settings than are asked for now."""
    from brdiv.commands.line.resolving import resolve
    from brdiv.study.settings import differences, read_settings

    kept = read_settings(run.config_of(run.checkpoint(steps)))
    if kept is None:  # someone has cleared up
        return
    changed = ", ".join(differences(kept, resolve("learn", arguments, {}, {}).settings, OWN))
    if changed:
        raise UserError(f"{run} is done, and was trained otherwise ({changed}); choose another folder, or remove it")


def clear(run: RunFolder) -> None:
    """Remove what a run has left that was killed before its first checkpoint.

    Only what a run writes is removed, from a folder that runs have locked; one with anything else is refused.
    """
    if not (run.path / NAME).is_file():  # of no run: it is refused when the run begins, unless it is empty
        return
    own = {path for pattern in BEGUN for path in run.path.glob(pattern)}
    others = sorted(set(run.path.iterdir()) - own - {run.path / NAME})
    if others:
        raise UserError(f"run folder {run} has no checkpoint, and holds {others[0].name}; choose another --run")
    lock_folder(run.path)  # whoever is at work there is left alone
    for path in own:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    unlock_folder(run.path)
