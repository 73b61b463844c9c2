"""PLASTIC evaluation while a population trains: how its learner fares with partners it never met."""

import torch
from lightning import Callback, Trainer

from brdiv.figures import belief_chart, evaluation_heatmap
from brdiv.games import Playable
from brdiv.teamwork import Plastic, all_pairs, beliefs_about, play_pairs
from brdiv.training import TeammateGenerator
from brdiv.training.room import check_room

from .every import EverySteps, check_least
from .watched import data_of, log_picture


class PlasticEvaluation(Callback):
    """Lets the PLASTIC learner of the moment play with the game's heuristics, every so often and at the end.

    Logs returns as scalars, a heatmap, and a picture of the learner's belief in an episode with one of its own
    teammates. Games without heuristics are left alone.

    Args:
        every: Environment steps between two evaluations; 0 evaluates at the end only.
        episodes: Number of episodes with each heuristic.

    """

    def __init__(self, every: int = 1_000_000, episodes: int = 32) -> None:
        check_least("plastic", every=(every, 0), episodes=(episodes, 1))
        self.episodes = episodes
        self.times = EverySteps(every)
        self.evaluated_at = -1

    def setup(self, trainer: Trainer, module: TeammateGenerator, stage: str) -> None:
        """Refuse what can't be measured, before anything is done."""
        self.check_room(module)

    def check_room(self, module: TeammateGenerator) -> None:
        """Refuse more episodes than the machine has room for."""
        check_room(3 * self.episodes, f"plastic with {self.episodes} episodes")

    def on_train_start(self, trainer: Trainer, module: TeammateGenerator) -> None:
        """Count from the step of a resumed run."""
        self.times.start_from(module.env_steps)

    def on_train_batch_end(self, trainer: Trainer, module: TeammateGenerator, *_: object) -> None:
        """Evaluate when it is time."""
        if self.times.reached(module.env_steps):
            self.times.start_from(module.env_steps)
            self.evaluate(trainer, module)

    def on_train_end(self, trainer: Trainer, module: TeammateGenerator) -> None:
        """Evaluate the finished population, unless that was just done."""
        if self.evaluated_at != module.env_steps:
            self.evaluate(trainer, module, monitored=False)

    def evaluate(self, trainer: Trainer, module: TeammateGenerator, monitored: bool = True) -> None:
        """Play on the first rank, and report. The generator is made from the step: nothing else is disturbed."""
        game = data_of(trainer).game
        heuristics = game.heuristics()
        self.evaluated_at = module.env_steps
        if heuristics is None:
            return
        metrics: dict[str, float] = {}
        if trainer.is_global_zero:
            generator = torch.Generator(module.device).manual_seed(module.env_steps)
            learner = Plastic(module.population)
            pairs = all_pairs(heuristics, learner, module.device)
            played = play_pairs(game, heuristics, learner, pairs, self.episodes, generator)
            returns = played.returns.mean(-1).tolist()
            metrics = {
                "plastic/mean_return": float(played.returns.mean()),
                "plastic/mean_discounted_return": float(played.discounted.mean()),
                **{f"plastic/{name}": value for name, value in zip(heuristics.names, returns, strict=True)},
            }
            title = f"{module.env_steps:,} steps"
            cells = [[(value, float("nan"), float("nan"))] for value in returns]
            heatmap = evaluation_heatmap(["PLASTIC"], list(heuristics.names), cells, title)
            log_picture(trainer, module, "plastic", heatmap)
            beliefs = example_beliefs(game, module, generator)
            log_picture(trainer, module, "belief", belief_chart(beliefs, f"{title}: with teammate 1 of its own"))
        # All ranks hear of it, so that those who monitor it decide alike.
        module.report(trainer.strategy.broadcast(metrics), monitored)


def example_beliefs(game: Playable, module: TeammateGenerator, generator: torch.Generator) -> list[list[float]]:
    """What the learner thinks of teammate 1, step by step through one episode: ``[steps, K]``."""
    first = torch.zeros(1, dtype=torch.long, device=generator.device)
    beliefs, _ = beliefs_about(game, module.population, first, generator)
    n_types = module.population.n_types
    return [[1.0 / n_types] * n_types, *beliefs[:, 0].tolist()]
