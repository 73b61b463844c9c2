"""How fast a learner's vector environment steps, with a teammate inside, beside `lbforaging` run as usual."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import torch

from brdiv.doors.vector import TeammateVectorEnv
from brdiv.errors import UserError
from brdiv.games import Game
from brdiv.nets import Population
from brdiv.teamwork import LearnedPolicies

N_TYPES, HIDDEN = 6, (128, 128)  # as many teammates as configs/lbf.yaml has, with networks as large
FORAGING = "Foraging-6x6-2p-3f-coop-v3"
FEW = 8  # environments that run one after the other: more of them are no faster


class VectorSpeed(NamedTuple):
    """Environment steps per second in each of several repeats."""

    what: str
    environments: int
    per_second: list[float]
    per_cpu_second: float  # in the best repeat: what is left of a crowded machine's noise when waiting is not counted


def population_speed(game: Game, environments: int, repeats: int, steps: int = 50) -> VectorSpeed:
    """Step a vector environment with random actions, beside teammates of a population that was not trained."""
    policies = LearnedPolicies(Population(N_TYPES, game.observation_size, game.n_actions, HIDDEN))
    return native_speed("a population's teammate", game, policies, environments, repeats, steps)


def heuristics_speed(game: Game, environments: int, repeats: int, steps: int = 50) -> VectorSpeed:
    """The same beside heuristics."""
    return native_speed("a heuristic", game, "heuristics", environments, repeats, steps)


def native_speed(
    what: str, game: Game, teammates: LearnedPolicies | str, environments: int, repeats: int, steps: int
) -> VectorSpeed:
    """Step our vector environment; observations, new episodes and new teammates included."""
    env = TeammateVectorEnv(environments, game, teammates, seed=0)
    env.reset()
    actions = np.random.default_rng(0).integers(game.n_actions, size=(steps, environments))
    return VectorSpeed(what, environments, *speeds(lambda: [env.step(action) for action in actions], actions, repeats))


def lbforaging_speed(repeats: int, steps: int = 200) -> VectorSpeed:
    """Step `lbforaging` in Stable-Baselines3's vector environment, with a teammate that does anything at all."""
    try:
        import lbforaging  # type: ignore[import-untyped]  # noqa: F401
        from stable_baselines3.common.vec_env import DummyVecEnv
    except ModuleNotFoundError as error:
        raise UserError(f'comparing needs {error.name}: pip install lbforaging "brdiv[examples]"') from None
    env = DummyVecEnv([lambda: BesideAnyone(gymnasium.make(FORAGING, disable_env_checker=True))] * FEW)
    env.reset()
    actions = np.random.default_rng(0).integers(6, size=(steps, FEW))
    found = speeds(lambda: [env.step(action) for action in actions], actions, repeats)
    return VectorSpeed("lbforaging, random teammate", FEW, *found)


class BesideAnyone(gymnasium.Wrapper):
    """Makes an environment for one of `lbforaging`'s for two: the second agent does anything at all."""

    def __init__(self, env: gymnasium.Env) -> None:
        super().__init__(env)
        self.random = np.random.default_rng(0)
        self.action_space = gymnasium.spaces.Discrete(env.action_space[0].n)  # type: ignore[index]
        self.observation_space = env.observation_space[0]  # type: ignore[index]

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        views, _ = self.env.reset(**kwargs)
        return views[0], {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Act for both."""
        views, rewards, terminated, truncated, _ = self.env.step((int(action), int(self.random.integers(6))))
        return views[0], float(np.sum(rewards)), bool(terminated), bool(truncated), {}  # type: ignore[call-overload]


def speeds(run: Callable[[], object], actions: np.ndarray, repeats: int) -> tuple[list[float], float]:
    """Environment steps per second of each repeat, and per second of all threads' computing in the best."""
    run()
    wall, cpu = [], []
    for _ in range(repeats):
        began, computed = time.perf_counter(), time.process_time()
        run()
        wall.append(actions.size / (time.perf_counter() - began))
        cpu.append(actions.size / (time.process_time() - computed))
    return wall, max(cpu)


def print_vector_speeds(game: Game, environments: int, threads: int, repeats: int, compare: bool) -> None:
    """Print how fast both kinds of teammates are, and the usual way beside them."""
    torch.set_num_threads(threads)
    found = [population_speed(game, environments, repeats), heuristics_speed(game, environments, repeats)]
    found += [lbforaging_speed(repeats)] if compare else []
    print(f"{type(game).__name__}, {threads} threads, {repeats} repeats; environment steps per second")
    print(f"{'beside':28} {'environments':>12} {'best':>10} {'median':>10} {'worst':>10} {'per CPU second':>15}")
    for what, number, values, cpu in found:
        spread = f"{max(values):>10,.0f} {np.median(values):>10,.0f} {min(values):>10,.0f}"
        print(f"{what:28} {number:>12,} {spread} {cpu:>15,.0f}")
