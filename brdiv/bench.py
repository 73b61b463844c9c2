"""How fast things are, measured here and now."""

import itertools
import time
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from brdiv.data import RolloutData, collect
from brdiv.envs import Game, TwoPlayerEnv
from brdiv.module import TeammateGenerator
from brdiv.nets import SEATS, StackedLinear, mlp, sample


class SteppingSpeed(NamedTuple):
    """Environment steps per second, best of several repeats."""

    rules: float  # the game's own step with random actions
    environment: float  # the same through TorchRL's environment, observations and resets included


def stepping_speed(game: Game, rows: int, repeats: int = 5, steps: int = 50) -> SteppingSpeed:
    """Step ``rows`` rows of a game with random actions."""
    generator = torch.Generator().manual_seed(0)
    actions = torch.randint(game.n_actions, (steps, rows, 2), generator=generator)
    env = TwoPlayerEnv(game, rows=rows)

    def step_rules() -> None:
        state = game.initial(rows, generator)
        for action in actions:
            state, _, _ = game.step(state, action)

    def step_environment() -> None:
        now = env.reset()
        for action in actions:
            _, now = env.step_and_maybe_reset(now.set(("agents", "action"), action))

    return SteppingSpeed(*(rows * steps / min(timed(run, repeats)) for run in (step_rules, step_environment)))


def timed(run: Callable[[], object], repeats: int) -> list[float]:
    """Seconds of each of several calls, after one to warm up."""
    run()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return times


class Floor:
    """The networks' mathematics of one update and nothing else: no game, no framework, no sorting of rows by policy.

    Actions of `window` steps are sampled, actors and critic run forward and backward on as many samples as an update
    has, both critics value the window's ends, gradients are clipped, Adam steps. Rows come in equal groups, one a
    policy.
    """

    def __init__(self, module: TeammateGenerator, data: RolloutData) -> None:
        population, rows, window = module.population, data.pairing.rows, data.window
        self.window = window
        policies = SEATS * population.n_types
        sizes = [population.observation_size, *population.hidden, population.n_actions]
        self.actors = nn.ModuleList(
            StackedLinear(policies, n_in, n_out, 1.0) for n_in, n_out in itertools.pairwise(sizes)
        )
        first = module.critic.layers[0]
        assert isinstance(first, nn.Linear)
        hidden = [layer.out_features for layer in module.critic.layers if isinstance(layer, nn.Linear)][:-1]
        self.critic, self.target = (mlp([first.in_features, *hidden], 1) for _ in range(2))
        each = -(-SEATS * rows // policies)
        self.seen = torch.rand(policies, each, sizes[0])
        self.learned = torch.rand(policies, each * window, sizes[0])
        self.action = torch.randint(sizes[-1], (policies, each * window, 1))
        self.states, self.ends = (torch.rand(n, first.in_features) for n in (rows * window, rows))
        parameters = [*self.actors.parameters(), *self.critic.parameters()]
        self.parameters = parameters
        self.adam = torch.optim.Adam(parameters, lr=1e-4, fused=True)

    def logits(self, x: Tensor) -> Tensor:
        """Run all actors."""
        *inner, last = self.actors
        for layer in inner:
            x = layer(x).relu()
        out: Tensor = last(x)
        return out

    def update(self) -> None:
        """Do what an update computes."""
        with torch.no_grad():
            for _ in range(self.window):
                sample(self.logits(self.seen))
            target = self.critic(self.ends).mean() + self.target(self.ends).mean()
        value = self.critic(self.states)
        log_prob = self.logits(self.learned).log_softmax(-1).gather(-1, self.action)
        loss = (value - target).square().mean() - log_prob.mean()
        self.adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(self.parameters, 1.0)
        self.adam.step()


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
    collector, _ = collect(game, data.pairing, module.population, data.window, device, [0])
    windows = iter(collector)
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

    whole = best(lambda: next(windows))
    policy = data.window * best(lambda: module.population.act(observation, ids, generator))
    env = data.window * env_time(game, data.pairing.rows, best) if isinstance(game, Game) else 0.0
    return Parts(policy, env, max(whole - policy - env, 0.0), best(learn), best(optimise))


def env_time(game: Game, rows: int, best: Callable[[Callable[[], object]], float]) -> float:
    """Milliseconds in which a game steps and shows itself once. Resets count as the collector's."""
    generator = torch.Generator().manual_seed(0)
    state = game.initial(rows, generator)
    action = torch.randint(game.n_actions, (rows, SEATS), generator=generator)
    return best(lambda: game.observe(game.step(state, action)[0]))
