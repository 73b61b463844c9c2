"""The stream of rollouts: one collector over self-play and cross-play rows, every window on-policy."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from brdiv.games import Playable
from brdiv.rollouts import Pairing, RolloutCollector, collect
from brdiv.rollouts.pairings import TAKEOVER, is_mixed
from brdiv.training.stream import StreamData


class RolloutData(StreamData):
    """Collects every batch with the policies of this moment: each row one pair of ids playing a window of steps.

    Args:
        game: The game to play.
        n_types: Size of the population, K. Set by the model's.
        cross_play: Whether the objective learns from cross-play. Set by the objective; without, all rows are self-play.
        self_play_rows: Number of environments in which a teammate plays with its own best response.
        cross_play_rows: Number of environments in which a teammate plays with another's best response.
        mixed_play_rows: Number of environments in which an episode begins as cross-play and may become self-play: the
            own partner of one of the two takes over.
        takeover: Probability of that, before every window of such an episode.
        window: Steps of every row between two updates; also the n of the n-step returns.
        steps: Budget in environment steps, all rows of all devices counted.
        seed: Seed of everything that is drawn while playing. Set by the run's seed.

    """

    pairing: Pairing

    def __init__(
        self,
        game: Playable,
        n_types: int,
        cross_play: bool = True,
        self_play_rows: int = 32,
        cross_play_rows: int = 128,
        mixed_play_rows: int = 0,
        takeover: float = TAKEOVER,
        window: int = 8,
        steps: int = 16_000_000,
        seed: int = 0,
    ) -> None:
        if cross_play:
            pairing = Pairing(n_types, self_play_rows, cross_play_rows, mixed_play_rows, takeover)
        else:
            pairing = Pairing(n_types, self_play_rows + cross_play_rows + mixed_play_rows)
        super().__init__(game, pairing, window, steps, seed)

    def mixed_rows(self, device: torch.device) -> Tensor:
        """Whether each row ``[B]`` is one of mixed play."""
        return is_mixed(self.pairing, device)

    def collect(self, module: Any, device: torch.device, seed: Sequence[int]) -> RolloutCollector:
        """Start the environments, to be played by the population of a module."""
        return collect(self.game, self.pairing, module.population, self.window, device, seed)
