"""External environments: any with two agents, one discrete action each and equal spaces.

As many copies as there are rows run in this process or in several, by TorchRL's wrappers. They are not batched
natively, and so are slower than a game with pure rules.
"""

import importlib
import math
from abc import abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

import gymnasium
import torch
from gymnasium.envs.registration import load_env_creator
from tensordict import TensorDict
from torch import Tensor
from torchrl.envs import EnvBase, ParallelEnv, SerialEnv

from brdiv.errors import UserError
from brdiv.games import Playable
from brdiv.rollouts.environment import Moment, RowsEnv, Step
from brdiv.rollouts.pairings import IdDraw

GROUP = "agents"


class ExternalGame(Playable):
    """A game that an external environment plays, one copy of it per row.

    Args:
        team_reward: How the team's reward is made from the agents': their sum or their mean.
        horizon: Steps after which an episode is truncated; 0 leaves that to the environment. One that calls its own
            time limit an end (as lbforaging does) should be given a longer limit of its own, and this one here.
        processes: How many processes to run the copies in; 0 runs them in this one.

    """

    most_rows = 64  # every row is a copy of the environment

    def __init__(self, team_reward: Literal["sum", "mean"] = "sum", horizon: int = 0, processes: int = 0) -> None:
        super().__init__()
        for name, value in {"horizon": horizon, "processes": processes}.items():
            if value < 0:
                raise UserError(f"{name} is {value}: it may not be negative")
        self.team_reward = team_reward
        self.horizon = horizon
        self.processes = processes

    def read_sizes(self) -> None:
        """Read the sizes off one copy, which refuses environments that don't fit."""
        copy = self.make()
        self.agents = list(copy.possible_agents)
        self.n_actions = int(copy.action_space(self.agents[0]).n)
        (self.observation_size,) = copy.observation_space(self.agents[0]).shape
        copy.close()

    def same_as(self, other: Playable) -> bool:
        """Whether the environments are the same; how many processes run them makes no difference."""
        ours, theirs = ({**game.settings(), "processes": 0} for game in (self, other))
        return type(self) is type(other) and ours == theirs

    @abstractmethod
    def imports(self) -> str:
        """Name the environment that building this game imports."""

    @abstractmethod
    def make(self) -> Any:
        """Build one copy, as a `FlatParallel`."""

    def own_environment(self, pairing: IdDraw, device: torch.device, seed: int | torch.Generator) -> "ExternalEnv":
        """Run one copy per row."""
        processes = self.processes
        if isinstance(seed, torch.Generator):
            # Episodes are measured with as many rows as there are pairs: whatever shares them out evenly will do.
            processes = math.gcd(pairing.rows, processes) if processes else 0
            seed = int(torch.randint(2**31, (1,), generator=seed, device=seed.device))
        return ExternalEnv(self, pairing, device, seed, processes)

    def make_torchrl(self) -> EnvBase:
        """Wrap one copy for TorchRL."""
        from torchrl.envs.libs.pettingzoo import PettingZooWrapper

        return PettingZooWrapper(self.make(), group_map={GROUP: self.agents}, categorical_actions=True)


class PettingZoo(ExternalGame):
    """A PettingZoo parallel environment.

    Args:
        module: Module that has the environment's `parallel_env`, as `mpe2.simple_spread_v3`.
        arguments: What to call `parallel_env` with.
        team_reward: How the team's reward is made from the agents': their sum or their mean.
        horizon: Steps after which an episode is truncated; 0 leaves that to the environment.
        processes: How many processes to run the copies in; 0 runs them in this one.

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
        self.read_sizes()

    def imports(self) -> str:
        """The module."""
        return self.module

    def make(self) -> Any:
        """Import the module and call its `parallel_env`."""
        parallel = import_parallel()
        try:
            source = importlib.import_module(self.module)
        except ImportError as error:
            raise UserError(f"module {self.module} can't be imported: {error}") from None
        if not hasattr(source, "parallel_env"):
            raise UserError(
                f"module {self.module} has no parallel_env: only PettingZoo's parallel environments are supported"
            )
        try:
            env = source.parallel_env(**self.arguments)
        except TypeError as error:
            raise UserError(f"{self.module}: {error}") from None
        return parallel.FlatParallel(env, self.module)


class Gymnasium(ExternalGame):
    """A Gymnasium environment that takes and gives a tuple with an entry for each agent, as those of `lbforaging`.

    Args:
        id: Name it is registered by, behind the module that registers it: `lbforaging:Foraging-6x6-2p-3f-coop-v3`.
        arguments: Arguments of the environment that differ from the registered ones.
        team_reward: How the team's reward is made from the agents': their sum or their mean.
        horizon: Steps after which an episode is truncated; 0 leaves that to the environment.
        processes: How many processes to run the copies in; 0 runs them in this one.

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
        self.read_sizes()
        self.horizon = horizon or gymnasium.spec(id.rpartition(":")[-1]).max_episode_steps or 0

    def imports(self) -> str:
        """The id, whose module registers it."""
        return self.id

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
            raise UserError(f"{self.id}: {error}") from None
        return parallel.FlatParallel(parallel.TupleParallel(env, self.id), self.id)


def import_parallel() -> Any:
    """Import what needs pettingzoo, saying how to get it."""
    try:
        from brdiv.rollouts import parallel
    except ModuleNotFoundError:
        raise UserError('external environments need pettingzoo: pip install "brdiv[external]"') from None
    return parallel


class ExternalEnv(RowsEnv):
    """Copies of an external environment behind the same keys as `TwoPlayerEnv`, but for `state`, which stays in them.

    Args:
        game: What to play.
        pairing: Draws the ids of every new episode.
        device: Where observations and rewards are wanted; the copies themselves run on the CPU.
        seed: Seed of the copies and of the ids.
        processes: How many processes to run the copies in, 0 for this one; the game's own setting if none is given.

    """

    game: ExternalGame

    def __init__(
        self,
        game: ExternalGame,
        pairing: IdDraw,
        device: torch.device | str = "cpu",
        seed: int = 0,
        processes: int | None = None,
    ) -> None:
        super().__init__(device=torch.device(device), batch_size=[pairing.rows])
        self.game = game
        self.pairing = pairing
        self.rows = pairing.rows
        self.generator = torch.Generator(self.device)
        self.copies = make_copies(game, self.rows, game.processes if processes is None else processes)
        self.set_specs(game, pairing.n_types)
        self.set_seed(seed)

    def _set_seed(self, seed: int | None) -> None:
        if seed is not None:
            self.generator.manual_seed(seed)
            self.copies.set_seed(seed)

    def begin(self) -> Moment:
        """Reset every copy."""
        return self.restart(torch.ones(self.rows, dtype=torch.bool))

    def restart(self, done: Tensor) -> Moment:
        """Reset the copies that are ``done [B]``."""
        shape = self.copies.batch_size
        request = TensorDict({"_reset": done.cpu().view(*shape, 1)}, shape)
        observation = self.copies.reset(request)[GROUP, "observation"]
        clock = torch.zeros(self.rows, dtype=torch.long, device=self.device)
        ids = self.pairing.draw(self.generator).squeeze(0)
        return Moment(None, clock, ids, self.as_rows(observation))

    def advance(self, now: Moment, action: Tensor) -> Step:
        """Step every copy, and make one reward of the agents'."""
        shape = self.copies.batch_size
        request = TensorDict({GROUP: TensorDict({"action": action.cpu().view(*shape, 2)}, [*shape, 2])}, shape)
        after = self.copies.step(request)["next"]
        rewards = self.as_rows(after[GROUP, "reward"]).squeeze(-1)
        reward = rewards.sum(1) if self.game.team_reward == "sum" else rewards.mean(1)
        terminated, truncated = (self.as_rows(after[name], 1).squeeze(-1) for name in ("terminated", "truncated"))
        clock = now.clock + 1
        late = clock >= self.game.horizon if self.game.horizon else torch.zeros_like(terminated)
        moment = Moment(None, clock, now.ids, self.as_rows(after[GROUP, "observation"]))
        return Step(moment, reward, terminated, terminated | truncated | late)

    def renew(self, now: Moment, done: Tensor) -> Moment:
        """Reset the copies whose episode is over."""
        if not done.any():
            return now
        fresh = self.restart(done)
        return Moment(
            None,
            now.clock.masked_fill(done, 0),
            torch.where(done[:, None], fresh.ids, now.ids),
            torch.where(done[:, None, None], fresh.observation, now.observation),
        )

    def settle(self, now: Moment, done: Tensor) -> Moment:
        """Reset what has ended: an environment can't be stepped beyond its end."""
        return self.renew(now, done)

    def as_rows(self, values: Tensor, *shape: int) -> Tensor:
        """Copy what the copies show, which they will overwrite, as ``[B, 2, ...]`` or another shape per row."""
        return values.reshape(self.rows, *(shape or (2, -1))).to(self.device, copy=True)

    def close(self, **kwargs: Any) -> None:
        """Close the copies."""
        self.copies.close(**kwargs)
        super().close(**kwargs)


def make_copies(game: ExternalGame, rows: int, processes: int) -> EnvBase:
    """Run one copy per row: all in this process, or the same number in each of several."""
    if not processes:
        return SerialEnv(rows, game.make_torchrl)
    if rows % processes:
        raise UserError(f"{rows} rows can't be shared out evenly among {processes} processes")
    return ParallelEnv(processes, partial(SerialEnv, rows // processes, game.make_torchrl))
