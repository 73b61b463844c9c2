"""A sized stream of windows of play, and what every data module that streams them has in common."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from lightning import LightningDataModule
from tensordict import TensorDictBase

from brdiv.errors import MOST_STEPS, UserError
from brdiv.games import Playable
from brdiv.rollouts import RolloutCollector
from brdiv.rollouts.collector import PLAY_FORMAT
from brdiv.rollouts.pairings import IdDraw
from brdiv.training.ranks import gather, rank_and_size
from brdiv.training.room import check_room


class RolloutStream:
    """A sized stream of windows: TensorDicts ``[B, T]`` whose `next` holds the true next observation.

    The length is not a nicety. From a stream without one Lightning fetches a batch ahead, which would be played by the
    policy of one update ago.
    """

    def __init__(
        self,
        collector: RolloutCollector,
        length: int,
        shape: dict[str, int] | None = None,
        playing: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self.collector = collector
        self.length = length
        self.shape = shape or {}
        self.playing = playing  # what holds while a window is played, and not while it is learned from
        self.given = 0

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[TensorDictBase]:
        windows = iter(self.collector)
        while self.given < self.length:
            self.given += 1
            with self.playing():
                window = next(windows)
            yield window

    def state_dict(self) -> dict[str, Any]:
        """Where the streams of all ranks stand, for the rank that writes it down. Every rank must ask."""
        return {"ranks": gather({"given": self.given, **self.shape, **self.collector.state_dict()})}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Resume from there."""
        ranks = state_dict["ranks"]
        rank, world = rank_and_size()
        if len(ranks) != world:
            raise UserError(f"the checkpoint was written by {len(ranks)} processes, and this run has {world}")
        self.given = ranks[rank]["given"]
        self.collector.load_state_dict(ranks[rank], windows=self.given)


class StreamData(LightningDataModule):
    """Collects every batch with the policies of this moment: all rows of a game playing a window of steps.

    Args:
        game: The game to play.
        pairing: Draws who plays each row's next episode.
        window: Steps of every row between two updates.
        steps: Budget in environment steps, all rows of all devices counted.
        seed: Seed of everything that is drawn while playing.

    """

    def __init__(self, game: Playable, pairing: IdDraw, window: int, steps: int, seed: int) -> None:
        super().__init__()
        if not hasattr(game, "observation_size"):  # what all games have in common is none by itself
            raise UserError(f"data.game is {type(game).__name__}: name a game")
        self.game = game
        self.pairing = pairing
        if window < 1:
            raise UserError(f"window is {window}: an update needs at least one step")
        self.window = window
        # What both seats see in a window, and see next.
        told = f"{self.pairing.rows} rows of {window} steps"
        check_room(self.steps_per_update * 2 * 2 * game.observation_size, told)
        if steps > MOST_STEPS:
            raise UserError(f"steps is {steps}: it must be at most {MOST_STEPS:,}")
        if steps < self.steps_per_update:
            raise UserError(
                f"steps is {steps}: less than the {self.steps_per_update} of one update "
                f"({self.pairing.rows} rows x {window} steps)"
            )
        self.steps = steps
        self.seed = seed
        self.collector: RolloutCollector | None = None

    @property
    def steps_per_update(self) -> int:
        """Environment steps that one device collects for an update."""
        return self.pairing.rows * self.window

    def planned_steps(self, devices: int) -> int:
        """Environment steps of a whole run: the budget, less what would be a part of an update."""
        return self.steps // (self.steps_per_update * devices) * self.steps_per_update * devices

    @property
    def observation_size(self) -> int:
        """Length of what one seat sees, D."""
        return self.game.observation_size

    @property
    def n_actions(self) -> int:
        """Number of actions, A."""
        return self.game.n_actions

    def stream_shape(self) -> dict[str, int]:
        """What a checkpoint of this stream must have in common with it."""
        return {"rows": self.pairing.rows, "window": self.window}

    @property
    def play_format(self) -> int:
        """Version of what checkpoints say of play."""
        return PLAY_FORMAT

    @abstractmethod
    def collect(self, module: Any, device: torch.device, seed: Sequence[int]) -> RolloutCollector:
        """Start the environments, to be played by the policies of a module."""

    def train_dataloader(self) -> RolloutStream:
        """Start the environments on the model's device and stream what they play."""
        trainer = self.trainer
        assert trainer is not None, "a stream needs the model that plays it"
        module: Any = trainer.lightning_module
        seed = [self.seed, trainer.global_rank]
        updates = self.planned_steps(trainer.world_size) // (self.steps_per_update * trainer.world_size)
        if updates < 1:
            raise UserError(f"steps is {self.steps}: less than one update of {trainer.world_size} devices")
        self.collector = self.collect(module, module.device, seed)
        return RolloutStream(self.collector, updates, self.stream_shape(), module.playing)

    def teardown(self, stage: str) -> None:
        """Close the environments."""
        if self.collector is not None:
            self.collector.shutdown()
            self.collector = None

    def transfer_batch_to_device(self, batch: TensorDictBase, *_: object) -> TensorDictBase:
        """Leave the batch where it was collected: on the model's device."""
        return batch
