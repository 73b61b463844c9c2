"""What every environment of ours is: rows of a game at play, for TorchRL and for hot loops."""

from abc import abstractmethod
from typing import Any, NamedTuple

import torch
from tensordict import TensorDict, TensorDictBase
from torch import Tensor
from torchrl.data import Binary, Categorical, Composite, Unbounded
from torchrl.envs import EnvBase

from brdiv.games import Playable
from brdiv.rollouts.pairings import IdDraw


class Moment(NamedTuple):
    """Where B rows stand."""

    state: TensorDict | None  # [B]; None where an external environment keeps it to itself
    clock: Tensor  # [B] steps of the episode so far
    ids: Tensor  # [B, 2] who plays: teammate and best response
    observation: Tensor  # [B, 2, D]


class Step(NamedTuple):
    """What one step of B rows led to."""

    after: Moment  # before anyone starts anew: the true next observation
    reward: Tensor  # [B]
    terminated: Tensor  # [B] the game is over
    done: Tensor  # [B] the game is over, or time is up


class RowsEnv(EnvBase):
    """B rows of a game at play, each with a pair of ids, behind TorchRL's interface and its multi-agent keys.

    Keys: ``("agents", "observation") [B, 2, D]``, ``("agents", "action") [B, 2]``, ``ids [B, 2]``, and ``clock``,
    ``reward``, ``done``, ``terminated``, ``truncated``, each ``[B, 1]``; of games with pure rules also ``state [B]``,
    all there is to know, so that recorded play can be put back. `terminated` means that the game is over, `truncated`
    that time is up before it was: never both.

    Under that interface lie `begin`, `advance` and `renew`, which loops call that have no use for TorchRL's
    bookkeeping: at 160 rows that is most of a step.
    """

    game: Playable
    rows: int
    pairing: IdDraw

    @abstractmethod
    def begin(self) -> Moment:
        """Start an episode in every row."""

    @abstractmethod
    def advance(self, now: Moment, action: Tensor) -> Step:
        """Play ``action [B, 2]`` in every row."""

    @abstractmethod
    def renew(self, now: Moment, done: Tensor) -> Moment:
        """Start new episodes, with new ids, in the rows that are ``done [B]``."""

    def record(self) -> None:
        """Make ready for thousands of steps, where there is a way to make them faster."""

    def settle(self, now: Moment, done: Tensor) -> Moment:
        """Make every row ready for another step when no new episode is wanted where one is ``done [B]``.

        Pure rules can be asked for ever; an external environment must be reset.
        """
        return now

    def view(self, now: Moment) -> Tensor | None:
        """What both seats see in plain numbers, ``[B, 2, V]``; None where there is no view."""
        return None

    def draws(self) -> dict[str, Any] | None:
        """Where the random draws stand, in plain values; None where play can't be put back."""
        return None

    def load_draws(self, draws: dict[str, Any]) -> None:
        """Resume drawing from there."""
        raise NotImplementedError

    def _reset(self, tensordict: TensorDictBase | None = None, **kwargs: object) -> TensorDict:
        """Start every row anew. On a partial reset TorchRL keeps the fresh values of the masked rows alone."""
        mask = None if tensordict is None else tensordict.get("_reset", None)
        now = self.begin() if mask is None or mask.all() else self.restart(mask.view(self.rows))
        flag = torch.zeros(self.rows, dtype=torch.bool, device=self.device)
        return self._pack(now, done=flag, terminated=flag.clone(), truncated=flag.clone())

    def restart(self, done: Tensor) -> Moment:
        """Start the rows that are ``done [B]`` anew; what is returned of the others is not read."""
        return self.begin()

    def _step(self, tensordict: TensorDictBase) -> TensorDict:
        agents = tensordict["agents"]
        now = Moment(
            tensordict.get("state", None), tensordict["clock"].squeeze(-1), tensordict["ids"], agents["observation"]
        )
        step = self.advance(now, agents["action"])
        return self._pack(
            step.after,
            reward=step.reward,
            done=step.done,
            terminated=step.terminated,
            truncated=step.done & ~step.terminated,
        )

    def _pack(self, now: Moment, **flags: Tensor) -> TensorDict:
        agents = TensorDict({"observation": now.observation}, [self.rows, 2], device=self.device)
        state = {} if now.state is None else {"state": now.state}
        columns = {name: value[:, None] for name, value in {"clock": now.clock, **flags}.items()}
        return TensorDict({"agents": agents, "ids": now.ids, **state, **columns}, [self.rows], device=self.device)

    def set_specs(self, game: Playable, n_types: int, **further: Composite) -> None:
        """Tell TorchRL what comes out: two players with ids and a clock, and what else this environment shows."""
        rows = self.rows
        agents = Composite(observation=Unbounded((rows, 2, game.observation_size)), shape=[rows, 2])
        clock, ids = Unbounded((rows, 1), dtype=torch.long), Categorical(n_types, shape=(rows, 2))
        observation = Composite(agents=agents, clock=clock, ids=ids, **further, shape=[rows])
        actions = Composite(action=Categorical(game.n_actions, shape=(rows, 2)), shape=[rows, 2])
        flags = {name: Binary(1, shape=(rows, 1), dtype=torch.bool) for name in ("done", "terminated", "truncated")}
        # Built on the CPU and moved as a whole: TorchRL refuses a composite whose leaves are on another device.
        self.observation_spec = observation.to(self.device)
        self.action_spec = Composite(agents=actions, shape=[rows]).to(self.device)
        self.reward_spec = Composite(reward=Unbounded((rows, 1)), shape=[rows]).to(self.device)
        self.done_spec = Composite(flags, shape=[rows]).to(self.device)
