"""PLASTIC evaluation while a population trains: how its learner fares with partners it never met."""

import torch
from lightning import Callback, Trainer
from lightning.pytorch.loggers import TensorBoardLogger

from brdiv.envs import Task
from brdiv.match import Match, all_pairs, play_pairs
from brdiv.module import TeammateGenerator
from brdiv.plastic import Plastic
from brdiv.play import play
from brdiv.plots import as_image, belief_chart, evaluation_heatmap
from brdiv.teammates import Heuristics, LearnedPolicies, heuristics_of


class PlasticEvaluation(Callback):
    """Lets the PLASTIC learner of the moment play with the game's heuristics, every so often and at the end.

    Logs returns as scalars, a heatmap, and a picture of the learner's belief in an episode with one of its own
    teammates. Games without heuristics are left alone.

    Args:
        every: Environment steps between two evaluations; 0 evaluates at the end only.
        episodes: Episodes with each heuristic.

    """

    def __init__(self, every: int = 1_000_000, episodes: int = 32) -> None:
        for name, value, least in (("every", every, 0), ("episodes", episodes, 1)):
            if value < least:
                raise ValueError(f"plastic.{name} is {value}: it must be at least {least}")
        self.every = every
        self.episodes = episodes
        self.due = every
        self.evaluated_at = -1

    def on_train_start(self, trainer: Trainer, module: TeammateGenerator) -> None:
        """Go on after the step of a continued run."""
        if self.every:
            self.due = (module.env_steps // self.every + 1) * self.every

    def on_train_batch_end(self, trainer: Trainer, module: TeammateGenerator, *_: object) -> None:
        """Evaluate when due."""
        if self.every and module.env_steps >= self.due:
            self.due = (module.env_steps // self.every + 1) * self.every
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
        pictures = {
            "plastic": evaluation_heatmap(["PLASTIC"], list(heuristics.names), cells, title),
            "belief": belief_chart(example_beliefs(game, module, generator), f"{title}: with teammate 1 of its own"),
        }
        for logger in trainer.loggers:
            if isinstance(logger, TensorBoardLogger):
                for name, figure in pictures.items():
                    logger.experiment.add_image(name, as_image(figure), module.env_steps, dataformats="HWC")


def find_heuristics(game: Task) -> Heuristics | None:
    """The scripted teammates of a game, if it has any."""
    try:
        return heuristics_of(game)
    except ValueError:
        return None


def example_beliefs(game: Task, module: TeammateGenerator, generator: torch.Generator) -> list[list[float]]:
    """What the learner thinks of teammate 1, step by step through one episode: ``[steps, K]``."""
    pair = torch.zeros(1, 2, dtype=torch.long, device=generator.device)
    match = Match(LearnedPolicies(module.population), Plastic(module.population), pair, generator)
    n_types = module.population.n_types
    beliefs = [[1.0 / n_types] * n_types]

    def act(view: torch.Tensor | None, observation: torch.Tensor) -> torch.Tensor:
        action = match(view, observation)
        assert match.memory is not None
        beliefs.append(match.memory[1]["belief"][0].tolist())  # type: ignore[index]
        return action

    play(game, act, 1, generator)
    return beliefs
