"""A Gymnasium vector environment with a native batch: all rows step in one call, each with a teammate inside."""

from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from brdiv.doors.gymnasium import learner_spaces
from brdiv.doors.pictures import check_render_mode, render
from brdiv.doors.rows import LearnerRows
from brdiv.doors.teammates import Wanted, find_teammates
from brdiv.errors import UserError
from brdiv.games import Frame, Playable


class TeammateVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """B rows of a game for one, each with a teammate that is drawn anew for each episode.

    A row whose episode ends starts anew in the same step: its observation is the new one, and the last one of the old
    episode is in ``infos["final_obs"]``, where ``infos["_final_obs"]`` says so.
    ``infos["teammate"]`` names who plays each row now, ``infos["final_info"]["teammate"]`` who played what has ended.
    After a step, ``infos["teammate_observation"] [B, D]`` and ``infos["teammate_action"] [B]`` are what the teammates
    saw and did in it.

    Args:
        num_envs: How many rows, B.
        game: The game, or the name of a shipped one.
        teammates: Who may be met, as in `TeammateEnv`.
        seed: Seed of starts, teammates and their actions; `reset(seed=...)` sets another.
        render_mode: ``rgb_array`` for pixels of every row, ``ansi`` for texts.
        allow_imports: Import the custom game or external environment that a trusted file names.
        settings: Settings of the game, where no file says them.

    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": ["rgb_array", "ansi"],
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        game: str | Playable | None = None,
        teammates: Wanted = "heuristics",
        seed: int | None = None,
        render_mode: str | None = None,
        allow_imports: bool = False,
        **settings: Any,
    ) -> None:
        if num_envs < 1:
            raise UserError(f"num_envs is {num_envs}: at least one is needed")
        found = find_teammates(teammates, game, settings, allow_imports)
        check_render_mode(found.game, render_mode)
        self.rows = LearnerRows(found, num_envs, seed)
        self.game = found.game
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.single_observation_space, self.single_action_space = learner_spaces(found.game)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.everyone = np.ones(num_envs, bool)
        self.time, self.total = np.zeros(num_envs, np.int64), np.zeros(num_envs)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode in every row: observations ``[B, D]``, and who plays. One seed is for all rows."""
        if isinstance(seed, list):
            raise UserError("seed is a list: all rows draw from one random stream, so give one number")
        if seed is not None:
            self.rows.seed(seed)
        self.time[:], self.total[:] = 0, 0.0
        return self.rows.begin().numpy(), self.info()

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Do ``actions [B]``."""
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.min() < 0 or actions.max() >= self.game.n_actions:
            raise gymnasium.error.InvalidAction(f"actions must be {self.action_space}")
        outcome = self.rows.step(torch.from_numpy(actions.astype(np.int64)))
        reward, terminated, truncated = (value.numpy() for value in outcome[1:4])
        self.time, self.total = self.time + 1, self.total + reward
        done = terminated | truncated
        did = {"teammate_observation": outcome.seen.numpy(), "_teammate_observation": self.everyone}
        did |= {"teammate_action": outcome.did.numpy(), "_teammate_action": self.everyone}
        if not done.any():
            return outcome.observation.numpy(), reward, terminated, truncated, {**self.info(), **did}
        met = {"teammate": self.rows.teammates(), "_teammate": done}
        final = {"final_obs": outcome.observation.numpy(), "_final_obs": done, "final_info": met, "_final_info": done}
        observation = self.rows.renew(torch.from_numpy(done)).numpy()
        self.time[done], self.total[done] = 0, 0.0
        return observation, reward, terminated, truncated, {**self.info(), **did, **final}

    def info(self) -> dict[str, Any]:
        """Name the teammates."""
        return {"teammate": self.rows.teammates(), "_teammate": self.everyone}

    def render(self) -> Any:
        """Draw where every row stands."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() draws nothing: give a render_mode when the environment is made")
            return None
        return tuple(
            render(
                self.game,
                Frame(row + 1, int(self.time[row]), float(self.total[row]), self.rows.frame_view(row)),
                self.render_mode,
                f"{type(self.game).__name__} with {name}",
            )
            for row, name in enumerate(self.rows.teammates())
        )

    def close_extras(self, **kwargs: Any) -> None:
        """Close the environment."""
        self.rows.close()
