"""The actors pi^1..pi^K, pi^-1..pi^-K as one stack of weights, and the ID-conditioned critic V(s, i, j)."""

import itertools
import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from brdiv.errors import UserError
from brdiv.grouped import round_up, run_grouped

SEATS = 2


def check_sizes(hidden: Sequence[int]) -> None:
    """Refuse layers without neurons before anything is built."""
    if not hidden or min(hidden) < 1:
        raise UserError(f"hidden is {list(hidden)}: give at least one layer, each of at least one neuron")


class StackedLinear(nn.Module):
    """P linear layers of one shape: ``[P, N, in] -> [P, N, out]`` in one batched matrix product."""

    def __init__(self, stack: int, n_in: int, n_out: int, gain: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(stack, n_in, n_out))
        self.bias = nn.Parameter(torch.zeros(stack, 1, n_out))
        for weight in self.weight.data:
            nn.init.orthogonal_(weight, gain)

    def forward(self, x: Tensor, owner: Tensor | slice | None = None) -> Tensor:
        """Map ``x [G, N, in]``, group g by layer ``owner[g]``, or by layer g where no owner is given."""
        if owner is None:
            return torch.baddbmm(self.bias, x, self.weight)
        return torch.baddbmm(self.bias[owner], x, self.weight[owner])


class Population(nn.Module):
    """2K separate actors: policy k of seat 0 is teammate pi^k, policy k of seat 1 its best response pi^-k.

    Each is an MLP with ReLU on its seat's own view. Their weights are stacked, so all of them run as one batched
    product per layer over rows grouped by policy. ``gain`` scales the last layer at the start: near 0 all policies
    begin alike, above 1 they have habits of their own from the first step.
    """

    first: Tensor

    def __init__(
        self,
        n_types: int,
        observation_size: int,
        n_actions: int,
        hidden: Sequence[int] = (128, 128),
        gain: float = 0.01,
    ) -> None:
        super().__init__()
        check_sizes(hidden)
        self.n_types = n_types
        self.observation_size = observation_size
        self.n_actions = n_actions
        self.hidden = list(hidden)
        self.register_buffer("first", torch.arange(SEATS) * n_types, persistent=False)  # a seat's first policy
        sizes = [observation_size, *hidden]
        stack = SEATS * n_types
        gains = [math.sqrt(2)] * len(hidden) + [gain]
        self.layers = nn.ModuleList(
            StackedLinear(stack, n_in, n_out, gain)
            for n_in, n_out, gain in zip(sizes, [*hidden, n_actions], gains, strict=True)
        )

    def forward(self, observation: Tensor, ids: Tensor) -> Tensor:
        """Logits ``[..., 2, A]`` of the policies ``ids [..., 2]`` name, on ``observation [..., 2, D]``."""
        policy = (ids + self.first).flatten()
        logits = self.logits(observation.reshape(-1, self.observation_size), policy)
        return logits.view(*ids.shape, self.n_actions)

    def logits(self, observation: Tensor, policy: Tensor) -> Tensor:
        """Logits ``[N, A]`` on ``observation [N, D]`` of ``policy [N]``: teammates count from 0, responses from K."""
        logits = run_grouped(self.layers, observation, policy, SEATS * self.n_types)
        return logits.to(observation.dtype)  # under autocast, products alone are rounded to few digits

    def log_probs_of_all(self, observation: Tensor, action: Tensor) -> Tensor:
        """Log-probability ``[..., 2, K]`` by which each of the K policies of a seat would have done what was done.

        ``observation [..., 2, D]`` and ``action [..., 2]``.
        """
        seats = [self.seat_log_probs(observation[..., s, :], action[..., s], s) for s in range(SEATS)]
        return torch.stack(seats, -2)

    def seat_log_probs(self, observation: Tensor, action: Tensor, seat: int) -> Tensor:
        """Log-probability ``[..., K]`` of ``action [...]`` on ``observation [..., D]`` by each policy of one seat.

        Every policy sees every sample, so nothing is grouped.
        """
        x = observation.reshape(1, -1, self.observation_size).expand(self.n_types, -1, -1)
        own = slice(seat * self.n_types, (seat + 1) * self.n_types)
        *inner, last = self.layers
        for layer in inner:
            x = layer(x, own).relu()
        log_probs = last(x, own).to(observation.dtype).log_softmax(-1)  # [K, N, A]
        done = action.reshape(1, -1, 1).expand(self.n_types, -1, 1)
        return log_probs.gather(-1, done).squeeze(-1).T.reshape(*action.shape, self.n_types)

    @torch.no_grad()
    def act(self, observation: Tensor, ids: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Sample ``action [..., 2]`` for ``observation [..., 2, D]`` and ``ids [..., 2]``, which count from 0.

        A population that was loaded checks them; one that trains, and acts thousands of times a second, does not.
        """
        if not self.training:
            self.check(observation, ids)
        return sample(self(observation, ids), generator)

    def check(self, observation: Tensor, ids: Tensor) -> None:
        """Refuse ids and shapes that would silently play another policy."""
        shape = (*ids.shape, self.observation_size)
        if ids.shape[-1:] != (SEATS,) or observation.shape != shape:
            raise UserError(
                f"observation has shape {list(observation.shape)} and ids {list(ids.shape)}: "
                f"they must be [..., 2, {self.observation_size}] and [..., 2]"
            )
        if ids.is_floating_point() or ((ids < 0) | (ids >= self.n_types)).any():
            raise UserError(f"ids must be whole numbers from 0 to {self.n_types - 1}: policies count from 0 in Python")


def sample(logits: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Draw actions ``[...]`` from ``logits [..., A]``: the argmax of logits plus Gumbel noise, -log(-log(uniform)).

    Uniform numbers and two logarithms take 18 instead of 40 µs at 160 rows: `exponential_` draws one by one.
    """
    noise = torch.rand(logits.shape, generator=generator, device=logits.device, dtype=logits.dtype)
    return (logits - noise.log_().neg_().log_()).argmax(-1)


class Critic(nn.Module):
    """V(s, i, j): the return to expect from pi^i with pi^-j in state s, from both views and two one-hot ids."""

    id_rows: Tensor

    def __init__(self, n_types: int, observation_size: int, hidden: Sequence[int] = (128, 128)) -> None:
        super().__init__()
        check_sizes(hidden)
        self.n_types = n_types
        self.register_buffer("id_rows", torch.eye(n_types), persistent=False)
        self.sizes = [SEATS * (observation_size + n_types), *hidden, 1]
        self.build()

    def build(self) -> None:
        """Build the networks."""
        self.layers = mlp(self.sizes[:-1], self.sizes[-1])

    def forward(self, observation: Tensor, ids: Tensor) -> Tensor:
        """Value ``[...]`` of ``observation [..., 2, D]`` for the pair ``ids [..., 2]``."""
        return self.values(self.inputs(observation, ids), ids).to(observation.dtype)

    def inputs(self, observation: Tensor, ids: Tensor) -> Tensor:
        """What the networks see, ``[..., I]``: both views and both ids."""
        one_hot = functional.embedding(ids, self.id_rows)
        return torch.cat([observation.flatten(-2), one_hot.flatten(-2)], -1)

    def values(self, x: Tensor, ids: Tensor) -> Tensor:
        """Value ``[...]`` of the networks' input ``x [..., I]`` for the pair ``ids [..., 2]``."""
        value: Tensor = self.layers(x)
        return value.squeeze(-1)


class SeparateCritics(Critic):
    """V(s, i, j) by a network for each teammate i, their weights stacked as the actors' are.

    In one network, what is learned of the first team that finds a strategy also holds for the others: they are drawn to
    the same one.
    """

    def build(self) -> None:
        """Build the networks."""
        gains = [math.sqrt(2)] * (len(self.sizes) - 2) + [1.0]
        self.layers = nn.ModuleList(  # type: ignore[assignment]
            StackedLinear(self.n_types, n_in, n_out, gain)
            for (n_in, n_out), gain in zip(itertools.pairwise(self.sizes), gains, strict=True)
        )

    def values(self, x: Tensor, ids: Tensor) -> Tensor:
        """Value ``[...]`` of the networks' input ``x [..., I]`` for the pair ``ids [..., 2]``."""
        value = run_grouped(self.layers, x.flatten(0, -2), ids[..., 0].flatten(), self.n_types)
        return value.view(ids.shape[:-1])


def values_where(wanted: Tensor, critics: Sequence[Critic], observation: Tensor, ids: Tensor) -> Tensor:
    """Values ``[C, B, T]`` by C critics of ``observation [B, T, 2, D]`` for ``ids [B, T, 2]``.

    They are true where ``wanted [B, T]`` and anything elsewhere. Most of a window needs no value of what comes next,
    which on a CPU saves two thirds of the critics' work. Elsewhere, picking the samples would stall the queue, so all
    are valued.
    """
    if wanted.device.type != "cpu":
        return torch.stack([critic(observation, ids) for critic in critics])
    where = wanted.flatten().nonzero().squeeze(-1)
    where = torch.cat([where, where[:1].expand(round_up(len(where)) - len(where))])
    observation, ids = (x.flatten(0, 1).index_select(0, where) for x in (observation, ids))
    inputs = critics[0].inputs(observation, ids)
    values = observation.new_zeros(len(critics), wanted.numel())
    values[:, where] = torch.stack([critic.values(inputs, ids).to(observation.dtype) for critic in critics])
    return values.view(-1, *wanted.shape)


def mlp(sizes: Sequence[int], n_out: int) -> nn.Sequential:
    """Build an MLP with ReLU between the layers, from ``sizes[0]`` inputs to ``n_out`` outputs."""
    layers: list[nn.Module] = []
    for before, after in itertools.pairwise(sizes):
        layers += [orthogonal_linear(before, after, math.sqrt(2)), nn.ReLU()]
    return nn.Sequential(*layers, orthogonal_linear(sizes[-1], n_out, 1.0))


def orthogonal_linear(n_in: int, n_out: int, gain: float) -> nn.Linear:
    """Build a linear layer with orthogonal weights and no bias to begin with."""
    layer = nn.Linear(n_in, n_out)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer
