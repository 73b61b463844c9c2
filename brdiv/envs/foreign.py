"""Other people's environments: any with two agents, one discrete action each and equal spaces.

As many copies as there are rows run in this process or in several, by TorchRL's wrappers. They are not batched
natively, and so are slower than a game of our own.
"""

import importlib
from abc import abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

import gymnasium
import torch
from gymnasium.envs.registration import load_env_creator
from tensordict import TensorDict, TensorDictBase
from torch import Tensor
from torchrl.envs import EnvBase, ParallelEnv, SerialEnv

from brdiv.envs.game import Task
from brdiv.envs.two_player import IdDraw, set_specs

GROUP = "agents"


class ForeignGame(Task):
    """A task that other people's code plays, one copy of it a row.

    Args:
        team_reward: How the team's reward comes from the agents': their sum or their mean.
        horizon: Steps after which an episode is cut, as `truncated`; 0 leaves that to the environment. One that calls
            its own time limit an end (as lbforaging does) should be given a longer limit of its own, and this one here.
        processes: Processes to run the copies in; 0 runs them in this one.

    """

    def __init__(self, team_reward: Literal["sum", "mean"] = "sum", horizon: int = 0, processes: int = 0) -> None:
        super().__init__()
        for name, value in {"horizon": horizon, "processes": processes}.items():
            if value < 0:
                raise ValueError(f"{name} is {value}: it may not be negative")
        self.team_reward = team_reward
        self.horizon = horizon
        self.processes = processes

    def look(self) -> None:
        """Read the sizes off one copy, which refuses environments that don't fit."""
        copy = self.make()
        self.agents = list(copy.possible_agents)
        self.n_actions = int(copy.action_space(self.agents[0]).n)
        (self.observation_size,) = copy.observation_space(self.agents[0]).shape
        copy.close()

    @abstractmethod
    def make(self) -> Any:
        """Build one copy, as a `FlatParallel`."""

    def make_torchrl(self) -> EnvBase:
        """Wrap one copy for TorchRL."""
        from torchrl.envs.libs.pettingzoo import PettingZooWrapper

        return PettingZooWrapper(self.make(), group_map={GROUP: self.agents}, categorical_actions=True)


class PettingZoo(ForeignGame):
    """A PettingZoo parallel environment.

    Args:
        module: Module that has the environment's `parallel_env`, as `mpe2.simple_spread_v3`.
        arguments: What to call `parallel_env` with.
        team_reward: How the team's reward comes from the agents': their sum or their mean.
        horizon: Steps after which an episode is cut; 0 leaves that to the environment.
        processes: Processes to run the copies in; 0 runs them in this one.

    """

    def __init__(
        self,
        module: str,
        arguments: Mapping[str, Any] | None = None,
        team_reward: Literal["sum", "mean"] = "sum",
        horizon: int = 0,
        processes: int = 0,
    ) -> None:
        super().__init__(team_reward, horizon, processes)
        self.module = module
        self.arguments = dict(arguments or {})
        self.look()

    def make(self) -> Any:
        """Import the module and call its `parallel_env`."""
        parallel = import_parallel()
        try:
            source = importlib.import_module(self.module)
        except ImportError as error:
            raise ValueError(f"module {self.module} can't be imported: {error}") from None
        if not hasattr(source, "parallel_env"):
            raise ValueError(
                f"module {self.module} has no parallel_env: only PettingZoo's parallel environments are supported"
            )
        try:
            env = source.parallel_env(**self.arguments)
        except TypeError as error:
            raise ValueError(f"{self.module}: {error}") from None
        return parallel.FlatParallel(env, self.module)


class Gymnasium(ForeignGame):
    """A Gymnasium environment that takes and gives a tuple with an entry for each agent, as those of `lbforaging`.

    Args:
        id: Name it is registered by, behind the module that registers it: `lbforaging:Foraging-6x6-2p-3f-coop-v3`.
        arguments: Arguments of the environment that differ from the registered ones.
        team_reward: How the team's reward comes from the agents': their sum or their mean.
        horizon: Steps after which an episode is cut; 0 leaves that to the environment.
        processes: Processes to run the copies in; 0 runs them in this one.

    """

    def __init__(
        self,
        id: str,
        arguments: Mapping[str, Any] | None = None,
        team_reward: Literal["sum", "mean"] = "sum",
        horizon: int = 0,
        processes: int = 0,
    ) -> None:
        super().__init__(team_reward, horizon, processes)
        self.id = id
        self.arguments = dict(arguments or {})
        self.look()
        self.horizon = horizon or gymnasium.spec(id.rpartition(":")[-1]).max_episode_steps or 0

    def make(self) -> Any:
        """Ask Gymnasium for it."""
        parallel = import_parallel()
        try:
            # Not `gymnasium.make`: it wraps for one agent, and keeps arguments like max_episode_steps to itself.
            module, _, name = self.id.rpartition(":")
            if module:
                importlib.import_module(module)
            spec = gymnasium.spec(name)
            assert spec.entry_point is not None
            creator = spec.entry_point if callable(spec.entry_point) else load_env_creator(spec.entry_point)
            env = creator(**{**spec.kwargs, **self.arguments})
        except (gymnasium.error.Error, ImportError, TypeError) as error:
            raise ValueError(f"{self.id}: {error}") from None
        return parallel.FlatParallel(parallel.TupleParallel(env, self.id), self.id)


def import_parallel() -> Any:
    """Import what needs pettingzoo, saying how to get it."""
    try:
        from brdiv.envs import parallel
    except ModuleNotFoundError:
        raise ValueError('other people\'s environments need pettingzoo: pip install "brdiv[foreign]"') from None
    return parallel


class ForeignEnv(EnvBase):
    """Copies of a foreign game behind the same keys as `TwoPlayerEnv`, but for `state`, which stays in the copies."""

    def __init__(self, game: ForeignGame, pairing: IdDraw, device: torch.device | str = "cpu", seed: int = 0) -> None:
        super().__init__(device=torch.device(device), batch_size=[pairing.rows])
        self.game = game
        self.pairing = pairing
        self.rows = pairing.rows
        self.generator = torch.Generator(self.device)
        self.copies = make_copies(game, self.rows)
        set_specs(self, game.observation_size, game.n_actions, pairing.n_types)
        self.set_seed(seed)

    def _set_seed(self, seed: int | None) -> None:
        if seed is not None:
            self.generator.manual_seed(seed)
            self.copies.set_seed(seed)

    def _reset(self, tensordict: TensorDictBase | None = None, **kwargs: object) -> TensorDict:
        """Reset the masked rows' copies; all of them where there is no mask."""
        mask = None if tensordict is None else tensordict.get("_reset", None)
        if mask is None:
            mask = torch.ones(self.rows, 1, dtype=torch.bool)
        shape = self.copies.batch_size
        request = TensorDict({"_reset": mask.cpu().view(*shape, 1)}, shape)
        observation = self.copies.reset(request)[GROUP, "observation"]
        flag = torch.zeros(self.rows, 1, dtype=torch.bool)
        clock = torch.zeros(self.rows, 1, dtype=torch.long)
        ids = self.pairing.draw(self.generator).squeeze(0)
        return self._pack(observation, ids, clock=clock, done=flag, terminated=flag.clone(), truncated=flag.clone())

    def _step(self, tensordict: TensorDictBase) -> TensorDict:
        shape = self.copies.batch_size
        action = tensordict[GROUP, "action"].cpu().view(*shape, 2)
        request = TensorDict({GROUP: TensorDict({"action": action}, [*shape, 2])}, shape)
        after = self.copies.step(request)["next"]
        rewards = after[GROUP, "reward"].view(self.rows, 2, 1)
        clock = tensordict["clock"].cpu() + 1
        terminated = after["terminated"].view(self.rows, 1)
        late = clock >= self.game.horizon if self.game.horizon else torch.zeros_like(terminated)
        truncated = (after["truncated"].view(self.rows, 1) | late) & ~terminated
        return self._pack(
            after[GROUP, "observation"],
            tensordict["ids"],
            clock=clock,
            reward=rewards.sum(1) if self.game.team_reward == "sum" else rewards.mean(1),
            done=terminated | truncated,
            terminated=terminated,
            truncated=truncated,
        )

    def _pack(self, observation: Tensor, ids: Tensor, **entries: Tensor) -> TensorDict:
        observation = observation.view(self.rows, 2, -1).to(self.device)
        agents = TensorDict({"observation": observation}, [self.rows, 2], device=self.device)
        moved = {name: entry.to(self.device) for name, entry in entries.items()}
        return TensorDict({GROUP: agents, "ids": ids, **moved}, [self.rows], device=self.device)

    def close(self, **kwargs: Any) -> None:
        """Close the copies."""
        self.copies.close(**kwargs)
        super().close(**kwargs)


def make_copies(game: ForeignGame, rows: int) -> EnvBase:
    """Run one copy a row: all in this process, or the same number in each of several."""
    if not game.processes:
        return SerialEnv(rows, game.make_torchrl)
    if rows % game.processes:
        raise ValueError(f"{rows} rows can't be shared out evenly among {game.processes} processes")
    return ParallelEnv(game.processes, partial(SerialEnv, rows // game.processes, game.make_torchrl))
