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
        self.now: TensorDictBase | None = None

    def iterator(self) -> Iterator[TensorDictBase]:
        """Give window after window, each going on where the last one stopped."""
        while True:
            yield self.rollout()

    @torch.no_grad()
    def rollout(self) -> TensorDict:
        """Play one window."""
        now = self.env.reset() if self.now is None else self.now
        state, clock, ids, observation = now["state"], now["clock"], now["ids"], now["agents", "observation"]
        steps: list[tuple[Tensor, ...]] = []
        for _ in range(self.window):
            action = self.act(observation, ids)
            state, reward, finished = self.env.game.step(state, action)
            clock = clock + 1
            after = self.env.game.observe(state)
            terminated, truncated = self.env.ends(finished, clock)
            done = terminated | truncated
            steps.append((observation, action, ids, after, reward[:, None], terminated, truncated, done))
            observation = after
            # Off the CPU, asking whether anyone is done would stall the queue.
            if done.device.type != "cpu" or done.any():
                fresh = self.env._reset()
                state = merge(done, fresh["state"], state)
                clock, ids = torch.where(done, 0, clock), torch.where(done, fresh["ids"], ids)
                observation = torch.where(done[..., None], fresh["agents", "observation"], observation)
        self.now = TensorDict(
            {"state": state, "clock": clock, "ids": ids, "agents": {"observation": observation}}, self.env.batch_size
        )
        return pack(*(torch.stack(entries, 1) for entries in zip(*steps, strict=True)))

    def set_seed(self, seed: int, static_seed: bool = False) -> int:
        """Seed the environment."""
        return self.env.set_seed(seed, static_seed=static_seed)

    def shutdown(self, timeout: float | None = None, close_env: bool = True, raise_on_error: bool = True) -> None:
        """Nothing runs that would have to be stopped."""

    def state_dict(self) -> OrderedDict[str, Any]:
        """Where play stands, in plain tensors."""
        now = None if self.now is None else self.now.to_dict()
        return OrderedDict(now=now, generator=self.env.generator.get_state())

    def load_state_dict(self, state_dict: OrderedDict[str, Any]) -> None:
        """Go on from there."""
        now = state_dict["now"]
        self.now = (
            None if now is None else TensorDict.from_dict(now, batch_size=self.env.batch_size).to(self.env.device)
        )
        self.env.generator.set_state(state_dict["generator"].cpu())


def merge(done: Tensor, fresh: TensorDictBase, old: TensorDictBase) -> TensorDict:
    """Take the fresh state where ``done [B, 1]``, the old one elsewhere."""
    entries = {
        key: torch.where(done.view(-1, *[1] * (value.dim() - 1)), fresh[key], value) for key, value in old.items()
    }
    return TensorDict(entries, old.batch_size)


def pack(
    observation: Tensor,
    action: Tensor,
    ids: Tensor,
    after: Tensor,
    reward: Tensor,
    terminated: Tensor,
    truncated: Tensor,
    done: Tensor,
) -> TensorDict:
    """Put a window ``[B, T]`` together, after TorchRL's key convention."""
    rows, steps = ids.shape[:2]
    last = {"reward": reward, "terminated": terminated, "truncated": truncated, "done": done}
    return TensorDict(
        {
            "agents": TensorDict({"observation": observation, "action": action}, [rows, steps, 2]),
            "ids": ids,
            "next": TensorDict({"agents": TensorDict({"observation": after}, [rows, steps, 2]), **last}, [rows, steps]),
        },
        [rows, steps],
    )
