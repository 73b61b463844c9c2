"""`brdiv fit`."""


def fit(fit_options: list[str]) -> None:
    """Train a population of teammates, each of which needs a different best response.

    Example: `brdiv fit --config configs/reaching.yaml`

    Args:
        fit_options: Settings of data, model, callbacks and Trainer.

    """
    from brdiv.commands.line.training import run_training

    run_training(fit_options)
