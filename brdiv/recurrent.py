"""The network of a learner: a recurrent actor-critic whose memory begins anew with every episode."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from brdiv.errors import UserError
from brdiv.nets import check_sizes, mlp

GATES = 3  # reset, update, and what is new


class Seen(NamedTuple):
    """What a learner goes by at a step; shapes ``[...]`` are rows, or rows of a window."""

    observation: Tensor  # [..., D] its own
    own: Tensor  # [...] what it did last; `n_actions` where an episode begins
    other: Tensor  # [...] what its teammate did last


class Output(NamedTuple):
    """What the network says at a step."""

    logits: Tensor  # [..., A]
    value: Tensor  # [...] the return to expect
    memory: Tensor  # [..., M] what is remembered, this step included


class RecurrentActorCritic(nn.Module):
    """A policy and a value on a GRU's memory of an episode: own observations, own actions and the teammate's.

    Args:
        observation_size: Length of what the seat sees.
        n_actions: Number of actions.
        hidden: Number of neurons in each layer before the memory.
        memory: Number of neurons that remember.

    """

    one_hot: Tensor

    def __init__(self, observation_size: int, n_actions: int, hidden: Sequence[int] = (64,), memory: int = 64) -> None:
        super().__init__()
        check_sizes(hidden)
        if memory < 1:
            raise UserError(f"memory is {memory}: at least one neuron must remember")
        self.observation_size = observation_size
        self.n_actions = n_actions
        self.hidden = list(hidden)
        self.memory = memory
        rows = torch.cat([torch.eye(n_actions), torch.zeros(1, n_actions)])  # nothing was done before an episode
        self.register_buffer("one_hot", rows, persistent=False)
        self.encoder = mlp([observation_size + 2 * n_actions, *hidden[:-1]], hidden[-1])
        self.input_gates = nn.Linear(hidden[-1], GATES * memory)
        self.memory_gates = nn.Linear(memory, GATES * memory)
        for weight in self.memory_gates.weight.data.chunk(GATES):
            nn.init.orthogonal_(weight)
        for layer in (self.input_gates, self.memory_gates):
            nn.init.zeros_(layer.bias)
        both = hidden[-1] + memory
        self.policy = mlp([both, memory], n_actions)
        self.value = mlp([both, memory], 1)
        nn.init.orthogonal_(self.policy[-1].weight, 0.01)  # type: ignore[arg-type]

    def start(self, rows: int, device: torch.device | str = "cpu") -> Tensor:
        """Remember nothing: ``[rows, M]``."""
        return torch.zeros(rows, self.memory, device=device)

    def encode(self, seen: Seen) -> Tensor:
        """What is told of a step by itself, ``[..., H]``."""
        last = [functional.embedding(action, self.one_hot) for action in (seen.own, seen.other)]
        encoded: Tensor = self.encoder(torch.cat([seen.observation, *last], -1)).relu()
        return encoded

    def step(self, seen: Seen, memory: Tensor) -> Output:
        """Go one step on from ``memory [R, M]``, which must be that of `start` where an episode begins."""
        encoded = self.encode(seen)
        start = torch.zeros(len(memory), 1, dtype=torch.bool, device=memory.device)
        return self.heads(encoded, self.remember(encoded[:, None], start, memory).squeeze(1))

    def forward(self, seen: Seen, start: Tensor, memory: Tensor) -> Output:
        """Go through windows ``[B, T]`` from ``memory [B, M]``, forgetting it wherever ``start [B, T]``."""
        encoded = self.encode(seen)
        return self.heads(encoded, self.remember(encoded, start, memory))

    def remember(self, encoded: Tensor, start: Tensor, memory: Tensor) -> Tensor:
        """Memory ``[B, T, M]`` after every step of ``encoded [B, T, H]``."""
        # Time first, so that each step's rows lie side by side.
        gates = self.input_gates(encoded.transpose(0, 1)).to(memory.dtype)
        kept = start.T.logical_not().to(memory.dtype).unsqueeze(-1)
        # Errors add up over the steps of an episode, so here products are not rounded to few digits.
        with torch.autocast(gates.device.type, enabled=False):
            remembered: Tensor = GRUWindow.apply(gates, kept, memory, self.memory_gates.weight, self.memory_gates.bias)
        return remembered.transpose(0, 1)

    def heads(self, encoded: Tensor, memory: Tensor) -> Output:
        """Policy and value of ``encoded [..., H]`` and ``memory [..., M]``."""
        both = torch.cat([encoded, memory], -1)
        return Output(self.policy(both), self.value(both).squeeze(-1), memory)


class GRUWindow(torch.autograd.Function):
    """A GRU through a window in which episodes begin.

    Its own backward, because torch's cells keep a graph of a dozen small nodes for each step: here each step costs one
    product and a few sums, and the weights' gradient is one product over the whole window.
    """

    @staticmethod
    def forward(ctx: Any, gates: Tensor, kept: Tensor, memory: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Memory ``[T, B, M]`` after every step.

        ``gates [T, B, 3M]`` of what is seen, ``kept [T, B, 1]`` 0 where an episode begins, ``memory [B, M]`` before the
        window, ``weight [3M, M]`` and ``bias [3M]`` of what is remembered.
        """
        size = memory.shape[-1]
        turned = weight.T.contiguous()
        notes: list[tuple[Tensor, ...]] = []  # gates, what is new, what was before, what was recalled
        out: list[Tensor] = []
        for step_gates, keep in zip(gates.unbind(0), kept.unbind(0), strict=True):
            memory = memory * keep
            own = torch.addmm(bias, memory, turned)
            both = (step_gates[:, : 2 * size] + own[:, : 2 * size]).sigmoid_()
            reset, update = both.split(size, -1)
            recalled = own[:, 2 * size :]
            fresh = torch.addcmul(step_gates[:, 2 * size :], reset, recalled).tanh_()
            notes.append((both, fresh, memory, recalled))
            memory = torch.lerp(fresh, memory, update)
            out.append(memory)
        if any(ctx.needs_input_grad):
            ctx.save_for_backward(kept, weight, *(torch.stack(entries) for entries in zip(*notes, strict=True)))
        return torch.stack(out)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """From the gradient ``[T, B, M]`` of the memory after each step, back through the window."""
        kept, weight, opened, new, old, held = ctx.saved_tensors
        reset, update = opened.chunk(2, -1)
        steps, rows, size = new.shape
        # What a unit of the memory's gradient is to each gate, for all steps at once.
        to_new = (1 - update) * (1 - new * new)
        to_update = (old - new) * update * (1 - update)
        to_reset = to_new * held * reset * (1 - reset)
        factors = torch.cat([to_reset, to_update, to_new * reset, to_new], -1)  # [T, B, 4M]
        through = update * kept
        back = torch.empty(steps, rows, 4 * size, dtype=new.dtype, device=new.device)
        flow = torch.zeros_like(gradient[0])
        for step in reversed(range(steps)):
            flow = flow + gradient[step]
            torch.mul(factors[step].view(rows, 4, size), flow[:, None], out=back[step].view(rows, 4, size))
            flow = flow * through[step] + (back[step, :, : GATES * size] @ weight) * kept[step]
        of_memory = back[..., : GATES * size].flatten(0, 1)
        of_gates = torch.cat([back[..., : 2 * size], back[..., GATES * size :]], -1)
        return of_gates, None, flow, of_memory.T @ old.flatten(0, 1), of_memory.sum(0)
