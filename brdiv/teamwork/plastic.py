"""PLASTIC Policy (Barrett et al., 2017; Section 6.2): recognise the teammate, and play its best response."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from brdiv.errors import UserError
from brdiv.games import RESPONSE, TEAMMATE, Policies, SeatView
from brdiv.nets import Population, sample

FLOOR = 1e-10
"""Least belief in a type: nobody is ruled out for good by one surprise."""


class Learner(Policies):
    """Someone prepared with a population of teammates who now plays with strangers. Sits in the response's seat."""


class Plastic(Learner):
    """Holds a belief over the K teammates it knows and acts by the best response to the most likely one.

    Args:
        population: The teammates and their best responses.
        eta: How far one action can move the belief, from 0 to 1.
        name: What to call it.

    """

    needs_view = False

    def __init__(self, population: Population, eta: float = 1.0, name: str = "PLASTIC") -> None:
        if not 0 < eta <= 1:
            raise UserError(f"eta is {eta}: it must lie above 0, and be at most 1")
        self.population = population
        self.eta = eta
        self.names: Sequence[str] = [name]

    def begin(self, which: Tensor, seen: SeatView, generator: torch.Generator) -> dict[str, Tensor]:
        """Believe in all types alike."""
        n_types = self.population.n_types
        return {"belief": torch.full((len(which), n_types), 1.0 / n_types, device=which.device)}

    def act(self, which: Tensor, seen: SeatView, memory: dict[str, Tensor], generator: torch.Generator) -> Tensor:
        """Sample from the best response to the most believed type, one of them at random where several are."""
        belief = memory["belief"]
        luck = torch.rand(belief.shape, generator=generator, device=belief.device)
        likely = luck.masked_fill(belief < belief.amax(-1, keepdim=True), -1.0).argmax(-1)
        return sample(self.population.logits(seen.observation, likely + RESPONSE * self.population.n_types), generator)

    def probabilities(self, which: Tensor, seen: SeatView, memory: dict[str, Tensor]) -> Tensor:
        """Mean ``[R, A]`` of the best responses to the most believed types."""
        belief, n_types = memory["belief"], self.population.n_types
        likely = (belief == belief.amax(-1, keepdim=True)).float()
        rows = seen.observation.repeat_interleave(n_types, 0)
        types = torch.arange(n_types, device=belief.device).repeat(len(belief))
        each = self.population.logits(rows, types + RESPONSE * n_types).softmax(-1).unflatten(0, (-1, n_types))
        return (each * likely[..., None]).sum(1) / likely.sum(-1, keepdim=True)

    def watch(self, which: Tensor, other: SeatView, action: Tensor, memory: dict[str, Tensor]) -> None:
        """Believe more in the types that would have done what the teammate did."""
        log_prob = self.population.seat_log_probs(other.observation, action, TEAMMATE)
        memory["belief"] = update_belief(memory["belief"], log_prob, self.eta)


def update_belief(belief: Tensor, log_prob: Tensor, eta: float) -> Tensor:
    """b_k <- b_k (1 - eta (1 - pi_k(a | s))), normalised: ``belief [R, K]``, ``log_prob [R, K]`` of the action.

    In logarithms, so that actions which every type calls all but impossible still tell them apart.
    """
    kept = (
        log_prob if eta == 1 else torch.logaddexp(torch.full_like(log_prob, math.log1p(-eta)), log_prob + math.log(eta))
    )
    kept = kept.clamp(min=-1e6)
    posterior = (belief.log() + kept).softmax(-1).clamp(min=FLOOR)
    return posterior / posterior.sum(-1, keepdim=True)
