"""External environments made alike: PettingZoo parallel environments whose two agents see flat floats.

Needs the package `pettingzoo`; imported only where such an environment is used.
"""

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from brdiv.errors import UserError


class FlatParallel(ParallelEnv):
    """A parallel environment for two whose observations are flattened, and scaled to 0..1 where they have bounds."""

    metadata: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self, env: Any, name: str) -> None:
        self.env = env
        self.possible_agents = list(env.possible_agents)
        self.agents = self.possible_agents
        if len(self.possible_agents) != 2:
            raise UserError(f"{name} has {len(self.possible_agents)} agents; two are needed, a teammate and a learner")
        first, second = self.possible_agents
        actions = [env.action_space(agent) for agent in (first, second)]
        views = [env.observation_space(agent) for agent in (first, second)]
        for action in actions:
            if not isinstance(action, spaces.Discrete):
                raise UserError(
                    f"{name} takes actions in {action}; only one discrete action for each agent is supported"
                )
        if actions[0] != actions[1]:
            raise UserError(f"{name} has different actions for its agents, {actions[0]} and {actions[1]}")
        if type(views[0]) is not type(views[1]) or views[0].shape != views[1].shape:
            raise UserError(f"{name} shows its agents different spaces, {views[0]} and {views[1]}")
        self.encoders = {agent: encoder(view, name) for agent, view in zip((first, second), views, strict=True)}
        example, other = (
            self.encoders[agent](view.sample()) for agent, view in zip((first, second), views, strict=True)
        )
        if example.shape != other.shape:
            raise UserError(f"{name} shows its agents different spaces, {views[0]} and {views[1]}")
        self.action = actions[0]
        self.last: dict[str, np.ndarray] = {}
        self.flat = spaces.Box(-np.inf, np.inf, example.shape, np.float32)
        # Some environments' starts depend on what an earlier episode left behind (lbforaging's do), so the first of
        # all, which wrappers play before anyone sets a seed, must not be random.
        env.reset(seed=0)

    def observation_space(self, agent: str) -> spaces.Space:
        """Flat floats."""
        return self.flat

    def action_space(self, agent: str) -> spaces.Space:
        """The environment's own."""
        return self.action

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict, dict]:
        """Begin an episode."""
        views, infos = self.env.reset(seed=seed, options=options)
        self.agents = list(self.possible_agents)
        self.last = self.encode(views)
        return self.last, {agent: infos.get(agent, {}) for agent in self.agents}

    def step(self, actions: Mapping[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        """Act for both agents. When one of them leaves, the episode is over for the team, and so for both."""
        views, rewards, terminated, truncated, infos = self.env.step({a: int(x) for a, x in actions.items()})
        self.last = {**self.last, **self.encode(views)}
        ended, late = (any(flags.values()) for flags in (terminated, truncated))
        everyone = self.possible_agents
        return (
            self.last,
            {agent: float(rewards.get(agent, 0.0)) for agent in everyone},
            dict.fromkeys(everyone, ended),
            dict.fromkeys(everyone, late and not ended),
            {agent: infos.get(agent, {}) for agent in everyone},
        )

    def encode(self, views: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Flatten the observations of the agents that have one."""
        return {agent: encode(views[agent]) for agent, encode in self.encoders.items() if agent in views}

    def close(self) -> None:
        """Close the environment."""
        self.env.close()


class TupleParallel(ParallelEnv):
    """A Gymnasium environment that takes and gives a tuple with an entry for each agent, as a parallel environment."""

    metadata: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self, env: gymnasium.Env, name: str) -> None:
        if not isinstance(env.action_space, spaces.Tuple) or not isinstance(env.observation_space, spaces.Tuple):
            raise UserError(
                f"{name} is for one agent: its actions and observations are not tuples with an entry for each"
            )
        self.env = env
        self.possible_agents = [f"agent_{number}" for number in range(len(env.action_space.spaces))]
        self.agents = self.possible_agents

    def observation_space(self, agent: str) -> spaces.Space:
        """The agent's entry of the tuple."""
        return self.env.observation_space.spaces[self.possible_agents.index(agent)]  # type: ignore[attr-defined]

    def action_space(self, agent: str) -> spaces.Space:
        """The agent's entry of the tuple."""
        return self.env.action_space.spaces[self.possible_agents.index(agent)]  # type: ignore[attr-defined]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict, dict]:
        """Begin an episode."""
        views, _ = self.env.reset(seed=seed, options=options)
        self.agents = list(self.possible_agents)
        return self.by_agent(views), self.by_agent([{}] * len(self.agents))

    def step(self, actions: Mapping[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        """Act for all agents; one that gives a single reward or end gives it to each."""
        views, rewards, terminated, truncated, _ = self.env.step(
            tuple(actions[agent] for agent in self.possible_agents)
        )
        entries = [
            np.broadcast_to(np.asarray(x), len(self.possible_agents)).tolist() for x in (rewards, terminated, truncated)
        ]
        return (
            self.by_agent(views),
            *(self.by_agent(entry) for entry in entries),
            self.by_agent([{}] * len(self.agents)),
        )  # type: ignore[return-value]

    def by_agent(self, entries: Any) -> dict[str, Any]:
        """Name each entry by its agent."""
        return dict(zip(self.possible_agents, entries, strict=True))

    def close(self) -> None:
        """Close the environment."""
        self.env.close()


def encoder(space: spaces.Space, name: str) -> Callable[[Any], np.ndarray]:
    """Choose how observations of a space become flat floats."""
    if isinstance(space, spaces.Box):
        low, high = (bound.astype(np.float32).ravel() for bound in (space.low, space.high))
        bounded = np.isfinite(low) & np.isfinite(high) & (high > low)
        offset, scale = np.where(bounded, low, 0.0), np.where(bounded, high - low, 1.0)
        return lambda view: ((np.asarray(view, np.float32).ravel() - offset) / scale).astype(np.float32)
    if isinstance(space, spaces.Discrete):
        table = np.eye(int(space.n), dtype=np.float32)
        start = int(space.start)
        return lambda view: table[int(view) - start]
    raise UserError(f"{name} shows observations in {space}; only boxes of numbers and discrete ones are supported")
