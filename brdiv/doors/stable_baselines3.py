"""The native batch as Stable-Baselines3's kind of vector environment."""

import time
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import torch
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
from stable_baselines3.common.vec_env import VecEnv
from torch import Tensor

from brdiv.doors.vector import TeammateVectorEnv
from brdiv.games import Memory, SeatView
from brdiv.nets import sample
from brdiv.teamwork import Learner


class TeammateVecEnv(VecEnv):
    """A `TeammateVectorEnv` for Stable-Baselines3.

    ``infos`` of a row whose episode has ended hold what its learners and monitors ask for: ``terminal_observation``,
    ``TimeLimit.truncated``, ``episode`` with return and length, and ``teammate``.
    """

    def __init__(self, env: TeammateVectorEnv) -> None:
        self.env = env
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)
        self.render_mode = env.render_mode
        self.actions = np.zeros(env.num_envs, np.int64)
        self.returns, self.lengths = np.zeros(env.num_envs), np.zeros(env.num_envs, np.int64)
        self.began = time.time()

    def reset(self) -> np.ndarray:
        """Begin an episode in every row, with the seed that was set."""
        observation, _ = self.env.reset(seed=self._seeds[0])
        self._reset_seeds()
        self.returns[:], self.lengths[:] = 0.0, 0
        return observation

    def step_async(self, actions: np.ndarray) -> None:
        """Take ``actions [B]`` down."""
        self.actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Step all rows."""
        observation, reward, terminated, truncated, found = self.env.step(self.actions)
        self.returns += reward
        self.lengths += 1
        done = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in done.nonzero()[0]:
            elapsed = round(time.time() - self.began, 6)
            infos[row] = {
                "terminal_observation": found["final_obs"][row],
                "TimeLimit.truncated": bool(truncated[row]),
                "episode": {"r": float(self.returns[row]), "l": int(self.lengths[row]), "t": elapsed},
                "teammate": str(found["final_info"]["teammate"][row]),
            }
        self.returns[done], self.lengths[done] = 0.0, 0
        return observation, reward, done, infos

    def close(self) -> None:
        """Close the environment."""
        self.env.close()

    def get_images(self) -> Sequence[np.ndarray | None]:
        """Draw every row."""
        return list(self.env.render() or [])

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Ask the batch, which answers for each of its rows."""
        return [getattr(self.env, attr_name)] * self.rows_of(indices)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Rows have no attributes of their own."""
        raise AttributeError(f"{attr_name} can't be set: all rows are one batch")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call the batch, which answers for each of its rows."""
        return [getattr(self.env, method_name)(*args, **kwargs)] * self.rows_of(indices)

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Rows are wrapped by nothing; episodes are counted here as a `Monitor` would."""
        return [False] * self.rows_of(indices)

    def rows_of(self, indices: Any) -> int:
        """Count the rows that are meant."""
        return len(list(self._get_indices(indices)))


def vec_env(id: str, num_envs: int, **arguments: Any) -> TeammateVecEnv:
    """Make a vector environment for Stable-Baselines3, as in ``vec_env("brdiv/LBF-v0", 64, teammates="FILE")``."""
    env = gymnasium.make_vec(id, num_envs, **arguments)
    assert isinstance(env, TeammateVectorEnv), f"{id} has no native batch"
    return TeammateVecEnv(env)


class TrainedLearner(Learner):
    """What Stable-Baselines3's PPO or A2C has learned, in the learner's seat: it plays wherever PLASTIC does."""

    needs_view = False

    def __init__(self, model: OnPolicyAlgorithm, name: str = "PPO") -> None:
        self.model = model
        self.names = [name]

    @torch.no_grad()
    def act(self, which: Tensor, seen: SeatView, memory: Memory, generator: torch.Generator) -> Tensor:
        """Sample from the policy."""
        distribution = self.model.policy.get_distribution(seen.observation.clone()).distribution
        return sample(distribution.logits, generator)  # type: ignore[union-attr]
