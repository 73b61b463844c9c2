"""A Gymnasium environment for one agent, in the learner's seat with a teammate inside."""

from typing import Any, SupportsFloat

import gymnasium
import numpy as np
import torch
from gymnasium import spaces

from brdiv.doors.pictures import RENDER_MODES, check_render_mode, render
from brdiv.doors.rows import LearnerRows
from brdiv.doors.teammates import Wanted, find_teammates
from brdiv.games import Frame, Playable

FPS = 3


def learner_spaces(game: Playable) -> tuple[spaces.Box, spaces.Discrete]:
    """What the learner sees, and what it can do."""
    low, high = game.observation_bounds
    return spaces.Box(low, high, (game.observation_size,), np.float32), spaces.Discrete(game.n_actions)


class TeammateEnv(gymnasium.Env[np.ndarray, np.int64]):
    """A game for one: the other seat is taken by a teammate, drawn anew for each episode and named in ``info``.

    Observations ``[D]`` are what the networks of a population see. The reward is the team's. After a step,
    ``info["teammate_observation"]`` and ``info["teammate_action"]`` are what the teammate saw and did in it.

    Args:
        game: The game, or the name of a shipped one.
        teammates: Who may be met: ``"FILE"`` for all of a population file or run folder, ``"FILE:3"``, ``"H1,H4"``,
            ``"heuristics"``, ``"random"``, what `brdiv.load_population` returned, or a list of these.
        seed: Seed of starts, teammates and their actions; `reset(seed=...)` sets another.
        render_mode: ``rgb_array`` for pixels, ``ansi`` for a text, ``human`` to print it at every step.
        allow_imports: Import the custom game or external environment that a trusted file names.
        settings: Settings of the game, where no file says them.

    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": FPS}  # noqa: RUF012

    def __init__(
        self,
        game: str | Playable | None = None,
        teammates: Wanted = "heuristics",
        seed: int | None = None,
        render_mode: str | None = None,
        allow_imports: bool = False,
        **settings: Any,
    ) -> None:
        found = find_teammates(teammates, game, settings, allow_imports)
        check_render_mode(found.game, render_mode)
        self.rows = LearnerRows(found, rows=1, seed=seed)
        self.game = found.game
        self.observation_space, self.action_space = learner_spaces(found.game)
        self.render_mode = render_mode
        self.time, self.total = 0, 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode with another teammate: observation ``[D]``, and who it is."""
        super().reset(seed=seed)
        if seed is not None:
            self.rows.seed(seed)
        observation = self.rows.begin()
        self.time, self.total = 0, 0.0
        self.show()
        return observation[0].numpy(), self.info()

    def step(self, action: np.int64) -> tuple[np.ndarray, SupportsFloat, bool, bool, dict[str, Any]]:
        """Act, while the teammate does."""
        if not self.action_space.contains(action):
            raise gymnasium.error.InvalidAction(f"action {action!r} is not in {self.action_space}")
        outcome = self.rows.step(torch.tensor([int(action)]))
        reward = float(outcome.reward)
        self.time, self.total = self.time + 1, self.total + reward
        self.show()
        did = {"teammate_observation": outcome.seen[0].numpy(), "teammate_action": int(outcome.did)}
        ends = bool(outcome.terminated), bool(outcome.truncated)
        return outcome.observation[0].numpy(), reward, *ends, {**self.info(), **did}

    def info(self) -> dict[str, Any]:
        """Name the teammate."""
        return {"teammate": str(self.rows.teammates()[0])}

    def show(self) -> None:
        """Print where the episode stands, if that is wanted."""
        if self.render_mode == "human":
            self.render()

    def render(self) -> Any:
        """Draw where the episode stands."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() draws nothing: give a render_mode when the environment is made")
            return None
        frame = Frame(1, self.time, self.total, self.rows.frame_view(0))
        title = f"{type(self.game).__name__} with {self.info()['teammate']}"
        return render(self.game, frame, self.render_mode, title)

    def close(self) -> None:
        """Close the environment."""
        self.rows.close()
