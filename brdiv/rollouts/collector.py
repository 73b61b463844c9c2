"""The collector: windows of play, and all of where play stands."""

import sys
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import torch
from tensordict import TensorDict, TensorDictBase
from torch import Tensor
from torchrl.collectors import BaseCollector

from brdiv.games import Playable
from brdiv.rollouts.environment import Moment, RowsEnv
from brdiv.rollouts.pairings import IdDraw, is_mixed
from brdiv.rollouts.two_player import make_env

PLAY_FORMAT = 2
"""Counts up when what a checkpoint says of play can no longer be read, or would be resumed differently, than before."""


class Actor(Protocol):
    """Anything that acts for both seats, a `Population` say."""

    def act(self, observation: Tensor, ids: Tensor, generator: torch.Generator | None) -> Tensor:
        """Map ``observation [B, 2, D]`` and ``ids [B, 2]`` to ``action [B, 2]``."""
        ...


class RolloutCollector(BaseCollector):
    """Windows of play, TensorDicts ``[B, T]``, each resuming where the last one stopped.

    They are those of TorchRL's own collector (a test compares them), but for `state` and `clock`, which stay here, and
    `mixed [B, T]`, which marks rows of mixed play where there are any. It owns everything that decides how play goes
    on: the environment, where its rows stand, and both random streams.

    Args:
        env: The rows to play.
        actor: Who acts for both seats.
        window: Steps per row and window.
        seed: Numbers that seed the random stream of the actions, and that of an environment that starts anew.

    """

    def __init__(self, env: RowsEnv, actor: Actor, window: int, seed: Sequence[int] = (0,)) -> None:
        super().__init__()
        self.env = env
        self.actor = actor
        self.window = window
        self.seed = list(seed)
        self.generator = torch.Generator(env.device).manual_seed(derive_seeds(self.seed)[1])
        self.now: Moment | None = None
        self.mixed = is_mixed(env.pairing, env.device) if env.pairing.mixed_play_rows else None

    def iterator(self) -> Iterator[TensorDictBase]:
        """Return window after window."""
        while True:
            yield self.rollout()

    def rollout(self) -> TensorDict:
        """Play one window."""
        # Stacked outside of inference mode, because its tensors can't be learned from.
        window = pack(*(torch.stack(entries, 1) for entries in zip(*self.play(), strict=True)))
        if self.mixed is not None:
            window["mixed"] = self.mixed[:, None].expand(window.shape)
        return window

    @torch.inference_mode()
    def play(self) -> list[tuple[Tensor, ...]]:
        """Play a window step by step: what was seen, done, by whom, seen next, paid, and how it ended."""
        now = self.env.begin() if self.now is None else self.now
        now = now._replace(ids=self.env.pairing.take_over(now.ids, now.clock, self.generator))
        steps: list[tuple[Tensor, ...]] = []
        for _ in range(self.window):
            action = self.actor.act(now.observation, now.ids, self.generator)
            after, reward, terminated, done = self.env.advance(now, action)
            steps.append((now.observation, action, now.ids, after.observation, reward, terminated, done))
            now = self.env.renew(after, done)
        self.now = now
        return steps

    def set_seed(self, seed: int, static_seed: bool = False) -> int:
        """Seed the environment."""
        return self.env.set_seed(seed, static_seed=static_seed)

    def shutdown(self, timeout: float | None = None, close_env: bool = True, raise_on_error: bool = True) -> None:
        """Close the environment."""
        if close_env and not self.env.is_closed:
            self.env.close()

    def state_dict(self) -> OrderedDict[str, Any]:
        """Where play stands, in plain values on the CPU; of an external environment only where actions' stream does."""
        found = OrderedDict[str, Any](device=self.env.device.type, actions=self.generator.get_state())
        draws = self.env.draws()
        if draws is not None:
            found["play"] = {"format": PLAY_FORMAT, "now": as_plain(self.now), "draws": draws}
        return found

    def load_state_dict(self, state_dict: OrderedDict[str, Any], windows: int = 0) -> None:
        """Resume from there, after so many windows. An external environment starts new episodes from a new seed.

        Generators of another kind of device have other states: after a move, play goes on from where it stood with new
        random streams, and says so.
        """
        new_seeds = derive_seeds([*self.seed, windows])
        play = state_dict.get("play") if self.env.draws() is not None else None
        self.now = None if play is None else from_plain(play["now"], self.env)
        there = state_dict.get("device", "cpu")  # which checkpoints of earlier versions don't say
        moved = there != self.env.device.type
        if moved:
            tell_of_new_streams(there, self.env.device.type)
            self.generator.manual_seed(new_seeds[1])
        else:
            self.generator.set_state(state_dict["actions"])
        if play is None or moved:
            self.env.set_seed(new_seeds[0])
        else:
            self.env.load_draws(play["draws"])


def collect(
    game: Playable, pairing: IdDraw, actor: Actor, window: int, device: torch.device, seed: Sequence[int]
) -> RolloutCollector:
    """Build the one collector over all rows: two, for self-play and cross-play, take 1.6 times as long per step.

    Environments and actions draw from a random stream each, both derived from ``seed``.
    """
    env_seed, _ = derive_seeds(seed)
    env = make_env(game, pairing, device, env_seed)
    env.record()
    return RolloutCollector(env, actor, window, seed)


def derive_seeds(seed: Sequence[int]) -> tuple[int, int]:
    """Derive seeds for environments and for actions."""
    first, second = np.random.SeedSequence(list(seed)).generate_state(2)
    return int(first), int(second)


def tell_of_new_streams(there: str, here: str) -> None:
    """Say that a run which moved to another kind of device will not repeat what it would have done."""
    print(
        f"brdiv: the checkpoint was written on {there} and resumes on {here}: play goes on from where it stood, but "
        "with new random numbers, so the run will not end as it would have there",
        file=sys.stderr,
    )


def as_plain(now: Moment | None) -> dict[str, Any] | None:
    """Write a moment of pure rules down in plain tensors on the CPU."""
    if now is None or now.state is None:
        return None
    plain = {name: getattr(now, name).cpu() for name in Moment._fields[1:]}
    return {**plain, "state": {name: value.cpu() for name, value in now.state.items()}}


def from_plain(now: dict[str, Any] | None, env: RowsEnv) -> Moment | None:
    """Read what `as_plain` wrote, onto the environment's device."""
    if now is None:
        return None
    state = TensorDict(now["state"], env.batch_size).to(env.device)
    return Moment(state, *(now[name].to(env.device) for name in Moment._fields[1:]))


def pack(
    observation: Tensor, action: Tensor, ids: Tensor, after: Tensor, reward: Tensor, terminated: Tensor, done: Tensor
) -> TensorDict:
    """Put a window ``[B, T]`` together, after TorchRL's key convention."""
    rows, steps = done.shape
    ends = {"reward": reward, "terminated": terminated, "truncated": done & ~terminated, "done": done}
    last = {name: value[..., None] for name, value in ends.items()}
    return TensorDict(
        {
            "agents": TensorDict({"observation": observation, "action": action}, [rows, steps, 2]),
            "ids": ids,
            "next": TensorDict({"agents": TensorDict({"observation": after}, [rows, steps, 2]), **last}, [rows, steps]),
        },
        [rows, steps],
    )
