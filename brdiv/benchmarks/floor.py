"""The least that an update can cost."""

import itertools

import torch
from torch import Tensor, nn

from brdiv.nets import SEATS, StackedLinear, mlp, sample
from brdiv.training import RolloutData, TeammateGenerator


class Floor:
    """The networks' mathematics of one update and nothing else: no game, no framework, no sorting of rows by policy.

    Actions of `window` steps are sampled, actors and critic run forward and backward on as many samples as an update
    has, both critics value the window's ends, gradients are clipped, Adam steps. Rows come in equal groups, one per
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
        seen = module.critic.sizes[0]
        self.critic, self.target = (mlp(module.critic.sizes[:-1], 1) for _ in range(2))
        each = -(-SEATS * rows // policies)
        self.seen = torch.rand(policies, each, sizes[0])
        self.learned = torch.rand(policies, each * window, sizes[0])
        self.action = torch.randint(sizes[-1], (policies, each * window, 1))
        self.states, self.ends = (torch.rand(n, seen) for n in (rows * window, rows))
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
