"""PLASTIC evaluation while a population trains: how its learner fares with partners it never met."""

import torch
from lightning import Callback, Trainer

from brdiv.beliefs import beliefs_in
from brdiv.envs import Task
from brdiv.match import all_pairs, play_pairs
from brdiv.module import TeammateGenerator
from brdiv.plastic import Plastic
from brdiv.plots import belief_chart, evaluation_heatmap
from brdiv.teammates import Heuristics, heuristics_of

from .due import Due, check_least, log_picture


class PlasticEvaluation(Callback):
    """Lets the PLASTIC learner of the moment play with the game's heuristics, every so often and at the end.

    Logs returns as scalars, a heatmap, and a picture of the learner's belief in an episode with one of its own
    teammates. Games without heuristics are left alone.

    Args:
        every: Environment steps between two evaluations; 0 evaluates at the end only.
        episodes: Episodes with each heuristic.

    """

    def __init__(self, every: int = 1_000_000, episodes: int = 32) -> None:
        check_least("plastic", every=(every, 0), episodes=(episodes, 1))
        self.episodes = episodes
        self.due = Due(every)
        self.evaluated_at = -1

    def on_train_start(self, trainer: Trainer, module: TeammateGenerator) -> None:
        """Go on after the step of a continued run."""
        self.due.start_from(module.env_steps)

    def on_train_batch_end(self, trainer: Trainer, module: TeammateGenerator, *_: object) -> None:
        """Evaluate when due."""
        if self.due.reached(module.env_steps):
            self.due.start_from(module.env_steps)
            self.evaluate(trainer, module)

    def on_train_end(self, trainer: Trainer, module: TeammateGenerator) -> None:
        """Evaluate the finished population, unless that was just done."""
        if self.evaluated_at != module.env_steps:
            self.evaluate(trainer, module)

    def evaluate(self, trainer: Trainer, module: TeammateGenerator) -> None:
        """Play and log, on the first rank alone. The generator is made from the step: nothing else is disturbed."""
        game: Task = trainer.datamodule.game  # type: ignore[attr-defined]
        heuristics = find_heuristics(game)
        self.evaluated_at = module.env_steps
        if heuristics is None or not trainer.is_global_zero:
            return
        generator = torch.Generator(module.device).manual_seed(module.env_steps)
        learner = Plastic(module.population)
        pairs = all_pairs(heuristics, learner, module.device)
        played = play_pairs(game, heuristics, learner, pairs, self.episodes, generator)
        returns = played.returns.mean(-1)
        named = dict(zip(heuristics.names, returns, strict=True))
        module.write(
            {
                "plastic/mean_return": returns.mean(),
                "plastic/mean_discounted_return": played.discounted.mean(),
                **{f"plastic/{name}": value for name, value in named.items()},
            }
        )
        title = f"{module.env_steps:,} steps"
        cells = [[(value, float("nan"), float("nan"))] for value in returns.tolist()]
        heatmap = evaluation_heatmap(["PLASTIC"], list(heuristics.names), cells, title)
        log_picture(trainer, module, "plastic", heatmap)
        beliefs = example_beliefs(game, module, generator)
        log_picture(trainer, module, "belief", belief_chart(beliefs, f"{title}: with teammate 1 of its own"))


def find_heuristics(game: Task) -> Heuristics | None:
    """The scripted teammates of a game, if it has any."""
    try:
        return heuristics_of(game)
    except ValueError:
        return None


def example_beliefs(game: Task, module: TeammateGenerator, generator: torch.Generator) -> list[list[float]]:
    """What the learner thinks of teammate 1, step by step through one episode: ``[steps, K]``."""
    first = torch.zeros(1, dtype=torch.long, device=generator.device)
    beliefs, _ = beliefs_in(game, module.population, first, generator)
    n_types = module.population.n_types
    return [[1.0 / n_types] * n_types, *beliefs[:, 0].tolist()]
