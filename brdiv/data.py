"""The stream of rollouts: one collector over self-play and cross-play rows, on-policy unless told otherwise."""

import copy
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from lightning import LightningDataModule
from tensordict import TensorDictBase
from torch import Tensor, distributed
from torchrl.collectors import BaseCollector

from brdiv.collect import GameCollector, make_collector
from brdiv.envs import Actor, Game, Task, make_env
from brdiv.nets import Population
from brdiv.overlap import OverlappedCollector
from brdiv.pairings import Pairing


class RolloutStream:
    """A sized stream of windows: TensorDicts ``[B, T]`` whose `next` holds the true next observation.

    The length is not a nicety. From a stream without one Lightning fetches a batch ahead, which would be played by the
    policy of one update ago.
    """

    def __init__(
        self,
        collector: BaseCollector,
        generator: torch.Generator,
        length: int,
        seed: list[int],
        rows: int = 0,
        window: int = 0,
    ) -> None:
        self.shape = {"rows": rows, "window": window}
        self.collector = collector
        self.generator = generator
        self.length = length
        self.seed = seed
        self.given = 0

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[TensorDictBase]:
        windows = iter(self.collector)
        while self.given < self.length:
            self.given += 1
            yield next(windows)

    def state_dict(self) -> dict[str, Any]:
        """Where the streams of all ranks stand. Every rank must ask."""
        state: dict[str, Any] = {"given": self.given, "actions": self.generator.get_state(), **self.shape}
        if isinstance(self.collector, GameCollector):
            state["play"] = dict(self.collector.state_dict())
        return {"ranks": from_all_ranks(state)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from there. Other people's environments, and another process's, start new episodes."""
        ranks = state_dict["ranks"]
        rank, world = place()
        if len(ranks) != world:
            raise ValueError(f"the checkpoint was written by {len(ranks)} processes, and this run has {world}")
        state = ranks[rank]
        self.given = state["given"]
        self.generator.set_state(state["actions"].cpu())
        if isinstance(self.collector, GameCollector) and "play" in state:
            self.collector.load_state_dict(state["play"])
        else:
            self.collector.set_seed(seeds([*self.seed, self.given])[0])


def place() -> tuple[int, int]:
    """Rank of this process, and how many there are."""
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return 0, 1


def from_all_ranks(state: dict[str, Any]) -> list[dict[str, Any]]:
    """Collect what every rank has to say, in their order."""
    everyone: list[Any] = [state]
    if place()[1] > 1:
        everyone = [None] * place()[1]
        distributed.all_gather_object(everyone, state)
    return everyone


class RolloutData(LightningDataModule):
    """Collects every batch with the policies of this moment: each row one pair of ids playing a window of steps.

    Args:
        game: The game to play.
        n_types: Size of the population, K. Set by the model's.
        cross_play: Whether the objective learns from cross-play. Set by it; without, all rows are self-play.
        self_play_rows: Environments in which a teammate plays with its own best response.
        cross_play_rows: Environments in which it plays with another's.
        window: Steps of every row between two updates; also the n of the n-step returns.
        steps: Budget in environment steps, all rows of all devices counted.
        overlap: Play the next window in a second process while this one learns from the last. Each window is then
            played by the policies of one update ago, and a continued run starts new episodes.
        seed: Set by the run's seed.

    """

    def __init__(
        self,
        game: Task,
        n_types: int,
        cross_play: bool = True,
        self_play_rows: int = 32,
        cross_play_rows: int = 128,
        window: int = 8,
        steps: int = 16_000_000,
        overlap: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.game = game
        if cross_play:
            self.pairing = Pairing(n_types, self_play_rows, cross_play_rows)
        else:
            self.pairing = Pairing(n_types, self_play_rows + cross_play_rows)
        if window < 1:
            raise ValueError(f"window is {window}: an update needs at least one step")
        self.window = window
        if steps < self.steps_per_update:
            raise ValueError(
                f"steps is {steps}: less than the {self.steps_per_update} of one update "
                f"({self.pairing.rows} rows x {window} steps)"
            )
        self.steps = steps
        if overlap and not isinstance(game, Game):
            raise ValueError("overlap is true: only games of our own can be played in a second process")
        self.overlap = overlap
        self.seed = seed

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

    def train_dataloader(self) -> RolloutStream:
        """Start the environments on the model's device and stream what they play."""
        trainer = self.trainer
        assert trainer is not None, "a stream needs the model that plays it"
        module: Any = trainer.lightning_module
        seed = [self.seed, trainer.global_rank]
        build = collect_ahead if self.overlap else collect
        collector, generator = build(self.game, self.pairing, module.population, self.window, module.device, seed)
        updates = self.planned_steps(trainer.world_size) // (self.steps_per_update * trainer.world_size)
        if updates < 1:
            raise ValueError(f"steps is {self.steps}: less than one update of {trainer.world_size} devices")
        return RolloutStream(collector, generator, updates, seed, self.pairing.rows, self.window)

    def transfer_batch_to_device(self, batch: TensorDictBase, *_: object) -> TensorDictBase:
        """Leave the batch where it was collected: on the model's device."""
        return batch


def collect(
    game: Task, pairing: Pairing, actor: Actor, window: int, device: torch.device, seed: list[int]
) -> tuple[BaseCollector, torch.Generator]:
    """Build the one collector over all rows: two, for self-play and cross-play, take 1.6 times as long a step.

    Environments and actions draw from a random stream each, both derived from ``seed``; that of the actions is given
    back too.
    """
    env_seed, action_seed = seeds(seed)
    generator = torch.Generator(device).manual_seed(action_seed)

    def act(observation: Tensor, ids: Tensor) -> Tensor:
        return actor.act(observation, ids, generator)

    return make_collector(make_env(game, pairing, device, env_seed), act, window), generator


def collect_ahead(
    game: Task, pairing: Pairing, actor: Population, window: int, device: torch.device, seed: list[int]
) -> tuple[BaseCollector, torch.Generator]:
    """Build a collector that plays one window ahead in a process of its own; what it draws from stays there."""
    make = partial(make_alone, copy.deepcopy(game).cpu(), pairing, window)
    return OverlappedCollector(make, actor, seed, device), torch.Generator(device)


def make_alone(game: Task, pairing: Pairing, window: int, actor: Actor, seed: list[int]) -> BaseCollector:
    """Build a collector on the CPU, in whatever process this runs."""
    return collect(game, pairing, actor, window, torch.device("cpu"), seed)[0]


def seeds(seed: list[int]) -> tuple[int, int]:
    """Derive seeds for environments and for actions."""
    first, second = np.random.SeedSequence(seed).generate_state(2)
    return int(first), int(second)
