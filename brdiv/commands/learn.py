"""`brdiv learn`."""


def learn(fit_options: list[str]) -> None:
    """Train a learner with any mix of teammates who never change.

    With --ckpt_path auto the run that --run names is begun, resumed, or left alone if it is done: whichever it needs.

    Example: `brdiv learn --config learners/ppo --teammates runs/reaching-brdiv-seed0 H1,H4`

    Args:
        fit_options: Settings of teammates, data, model, callbacks and Trainer.

    """
    from brdiv.commands.line.going_on import with_standing

    options = with_standing(fit_options)
    if options is None:
        return

    from brdiv.commands.line.learning import LearnerCLI
    from brdiv.commands.line.training import run_training

    run_training(options, LearnerCLI)
