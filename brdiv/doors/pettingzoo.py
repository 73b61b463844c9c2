"""The games as PettingZoo's parallel environments: both seats are for whoever steps them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from pettingzoo import ParallelEnv
from tensordict import TensorDict

from brdiv.doors.gymnasium import learner_spaces
from brdiv.doors.pictures import RENDER_MODES, check_render_mode, render
from brdiv.doors.teammates import build_game
from brdiv.errors import UserError
from brdiv.games import TEAMMATE, Frame, Game

AGENTS = ["teammate", "learner"]
"""The seats in their order."""


class GameParallelEnv(ParallelEnv[str, np.ndarray, int]):
    """A game for two agents, `teammate` and `learner`, each of whom is paid the team's reward.

    Observations ``[D]`` are what the networks of a population see.

    Args:
        game: The game, or the name of a shipped one.
        seed: Seed of starts; `reset(seed=...)` sets another. A random one if none is given.
        render_mode: ``rgb_array`` for pixels, ``ansi`` for a text, ``human`` to print it at every step.
        settings: Settings of a game that is given by name.

    """

    metadata: dict[str, Any] = {"name": "brdiv", "render_modes": RENDER_MODES, "is_parallelizable": True}  # noqa: RUF012
    state_now: TensorDict

    def __init__(
        self, game: str | Game, seed: int | None = None, render_mode: str | None = None, **settings: Any
    ) -> None:
        built = build_game(game, settings)
        if not isinstance(built, Game):
            raise UserError(f"{type(built).__name__} is an external environment: take that one itself")
        check_render_mode(built, render_mode)
        self.game = built
        self.render_mode = render_mode
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        observation, action = learner_spaces(built)
        self.observation_spaces: dict[str, spaces.Space] = dict.fromkeys(AGENTS, observation)
        self.action_spaces: dict[str, spaces.Space] = dict.fromkeys(AGENTS, action)
        self.generator = torch.Generator()
        self.seed(seed)
        self.time, self.total = 0, 0.0

    def observation_space(self, agent: str) -> spaces.Space:
        """What an agent sees."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        """What an agent can do."""
        return self.action_spaces[agent]

    def seed(self, seed: int | None) -> None:
        """Start the random stream of starts from a number."""
        self.generator.manual_seed(int(np.random.SeedSequence(seed).generate_state(1)[0]))

    @torch.inference_mode()
    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[dict, dict]:
        """Begin an episode: at random, or where ``options["view"] [2, V]``, both seats' plain numbers, says."""
        if seed is not None:
            self.seed(seed)
        if options and "view" in options:
            self.state_now = self.game.from_view(torch.as_tensor(np.asarray(options["view"]))[None])
        else:
            self.state_now = self.game.initial(1, self.generator)
        self.agents = list(AGENTS)
        self.time, self.total = 0, 0.0
        self.show()
        return self.observe(), self.infos()

    @torch.inference_mode()
    def step(self, actions: Mapping[str, int]) -> tuple[dict, dict, dict, dict, dict]:
        """Let both act. An episode ends for both: as terminated when it is won, as truncated when time is up."""
        for agent in AGENTS:
            if not self.action_spaces[agent].contains(actions[agent]):
                raise UserError(f"{agent}'s action {actions[agent]!r} is not in {self.action_spaces[agent]}")
        action = torch.tensor([[int(actions[agent]) for agent in AGENTS]])
        self.state_now, paid, won = self.game.step(self.state_now, action)
        reward, terminated = float(paid), bool(won)
        self.time, self.total = self.time + 1, self.total + reward
        truncated = self.time >= self.game.horizon and not terminated
        self.show()
        results = (self.observe(), *(dict.fromkeys(AGENTS, value) for value in (reward, terminated, truncated)))
        infos = self.infos()
        if terminated or truncated:
            self.agents = []
        return *results, infos  # type: ignore[return-value]

    def observe(self) -> dict[str, np.ndarray]:
        """What each agent sees."""
        return dict(zip(AGENTS, self.game.observe(self.state_now)[0].numpy(), strict=True))

    def infos(self) -> dict[str, dict[str, Any]]:
        """Each agent's view in plain numbers, of which the observation is an encoding."""
        views = self.game.view(self.state_now)[0].numpy()
        return {agent: {"view": view} for agent, view in zip(AGENTS, views, strict=True)}

    def show(self) -> None:
        """Print where the episode stands, if that is wanted."""
        if self.render_mode == "human":
            self.render()

    def render(self) -> Any:
        """Draw where the episode stands."""
        if self.render_mode is None:
            return None
        view = self.game.view(self.state_now)[0, TEAMMATE].tolist()
        return render(self.game, Frame(1, self.time, self.total, view), self.render_mode, type(self.game).__name__)

    def close(self) -> None:
        """There is nothing to close."""


def parallel_env(game: str | Game, **arguments: Any) -> GameParallelEnv:
    """Make a game PettingZoo's: ``parallel_env("LBF")``, settings of the game as further arguments."""
    return GameParallelEnv(game, **arguments)
