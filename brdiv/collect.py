"""Collectors: a lean one for games of our own, TorchRL's for other people's environments."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import torch
from tensordict import TensorDict, TensorDictBase
from tensordict.nn import TensorDictModule
from torch import Tensor
from torchrl.collectors import BaseCollector, Collector
from torchrl.envs import EnvBase

from brdiv.envs import TwoPlayerEnv

PLAY_FORMAT = 1
"""Counts up when what a checkpoint says of play can no longer be read, or would go on otherwise, than before."""

Act = Callable[[Tensor, Tensor], Tensor]
"""Maps ``observation [B, 2, D]`` and ``ids [B, 2]`` to ``action [B, 2]``."""


def make_collector(env: EnvBase, act: Act, window: int) -> BaseCollector:
    """Choose the collector for an environment: both give the same windows (tests compare them)."""
    if isinstance(env, TwoPlayerEnv):
        return GameCollector(env, act, window)
    policy = TensorDictModule(act, in_keys=[("agents", "observation"), "ids"], out_keys=[("agents", "action")])
    return Collector(
        env,
        policy,
        frames_per_batch=env.batch_size.numel() * window,
        total_frames=-1,
        device=env.device,
        auto_register_policy_transforms=False,
        track_traj_ids=False,
        trust_policy=True,
    )


class GameCollector(BaseCollector):
    """Windows of play, TensorDicts ``[B, T]``, straight from a game's functions.

    Most of a step through TorchRL's collector is bookkeeping that a game with pure rules does not need: at 160 rows of
    Cooperative Reaching on one core this takes a third of the time. What a window holds is the same, but for `state`
    and `clock`, which stay here; random draws are made in the same order.
    """

    def __init__(self, env: TwoPlayerEnv, act: Act, window: int) -> None:
        super().__init__()
        self.env = env
        self.act = act
        self.window = window
        self.now: dict[str, Any] | None = None  # state, clock, ids and observation of every row

    def iterator(self) -> Iterator[TensorDictBase]:
        """Give window after window, each going on where the last one stopped."""
        while True:
            yield self.rollout()

    def rollout(self) -> TensorDict:
        """Play one window."""
        # Stacked outside of inference mode, because its tensors can't be learned from.
        return pack(*(torch.stack(entries, 1) for entries in zip(*self.play(), strict=True)))

    @torch.inference_mode()
    def play(self) -> list[tuple[Tensor, ...]]:
        """Play a window step by step: what was seen, done, by whom, seen next, paid, and how it ended."""
        game = self.env.game
        now = self.now or self.start()
        state, clock, ids, observation = now["state"], now["clock"], now["ids"], now["observation"]
        steps: list[tuple[Tensor, ...]] = []
        for _ in range(self.window):
            action = self.act(observation, ids)
            state, reward, finished = game.step(state, action)
            clock = clock + 1
            done = finished | (clock >= game.horizon)
            after = game.observe(state)
            steps.append((observation, action, ids, after, reward, finished, done))
            observation = after
            # Off the CPU, asking whether anyone is done would stall the queue.
            if done.device.type != "cpu" or done.any():
                fresh = self.env.fresh()
                state = merge(done, fresh["state"], state)
                clock, ids = clock.masked_fill(done, 0), torch.where(done[:, None], fresh["ids"], ids)
                observation = torch.where(done[:, None, None], fresh["observation"], observation)
        self.now = {"state": state, "clock": clock, "ids": ids, "observation": observation}
        return steps

    def start(self) -> dict[str, Any]:
        """Begin an episode in every row."""
        fresh = self.env.fresh()
        clock = torch.zeros(self.env.rows, dtype=torch.long, device=self.env.device)
        return {"clock": clock, **{key: fresh[key] for key in ("state", "ids", "observation")}}

    def set_seed(self, seed: int, static_seed: bool = False) -> int:
        """Seed the environment."""
        return self.env.set_seed(seed, static_seed=static_seed)

    def shutdown(self, timeout: float | None = None, close_env: bool = True, raise_on_error: bool = True) -> None:
        """Nothing runs that would have to be stopped."""

    def state_dict(self) -> OrderedDict[str, Any]:
        """Where play stands, in plain tensors."""
        now = None if self.now is None else {**self.now, "state": self.now["state"].to_dict()}
        return OrderedDict(format=PLAY_FORMAT, now=now, draws=self.env.draws())

    def load_state_dict(self, state_dict: OrderedDict[str, Any]) -> None:
        """Go on from there."""
        now, device = state_dict["now"], self.env.device
        if now is not None:
            state = TensorDict(now["state"], self.env.batch_size).to(device)
            now = {"state": state, **{key: now[key].to(device) for key in ("clock", "ids", "observation")}}
        self.now = now
        self.env.load_draws(state_dict["draws"])


def merge(done: Tensor, fresh: TensorDictBase, old: TensorDictBase) -> TensorDict:
    """Take the fresh state where ``done [B]``, the old one elsewhere."""
    entries = {
        key: torch.where(done.view(-1, *[1] * (value.dim() - 1)), fresh[key], value) for key, value in old.items()
    }
    return TensorDict(entries, old.batch_size)


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
