"""What an update spends its time on."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import nn

from brdiv.benchmarks.timing import timed
from brdiv.games import Playable
from brdiv.nets import SEATS
from brdiv.rollouts import NoIds, collect, make_env
from brdiv.training import RolloutData, TeammateGenerator


class Parts(NamedTuple):
    """Milliseconds of an update, by what they are spent on."""

    policy: float
    env: float
    collector_overhead: float
    loss_and_backward: float
    optimiser: float


def time_parts(module: TeammateGenerator, data: RolloutData, repeats: int = 10, calls: int = 10) -> Parts:
    """Time the parts of an update one by one, outside of the training loop; of each the best of several repeats."""
    device, game = torch.device("cpu"), data.game
    windows = iter(collect(game, data.pairing, module.population, data.window, device, [0]))
    rollout = next(windows).clone()
    generator = torch.Generator().manual_seed(0)
    observation, ids = rollout["agents", "observation"][:, 0], rollout["ids"][:, 0]
    optimiser = module.configure_optimizers()

    def best(run: Callable[[], object]) -> float:
        def several() -> None:
            for _ in range(calls):
                run()

        return 1000 * min(timed(several, repeats)) / calls

    def learn() -> None:
        optimiser.zero_grad()
        torch.stack(list(module.losses(rollout, 0.001).values())).sum().backward()

    def optimise() -> None:
        nn.utils.clip_grad_value_(module.parameters(), 1.0)
        optimiser.step()

    with module.products.playing():
        whole = best(lambda: next(windows))
        policy = data.window * best(lambda: module.population.act(observation, ids, generator))
        env = data.window * env_time(game, data.pairing.rows, best)
    return Parts(policy, env, max(whole - policy - env, 0.0), best(learn), best(optimise))


def env_time(game: Playable, rows: int, best: Callable[[Callable[[], object]], float]) -> float:
    """Milliseconds in which a game steps and shows itself once. Resets count as the collector's."""
    env = make_env(game, NoIds(rows), "cpu", 0)
    now = env.begin()
    action = torch.randint(game.n_actions, (rows, SEATS), generator=torch.Generator().manual_seed(0))

    def step() -> None:
        after, _, _, done = env.advance(now, action)
        env.settle(after, done)

    return best(step)
