"""n-step returns to the end of a window, with the end of a task and the end of the clock told apart."""

import torch
from torch import Tensor


def n_step_returns(reward: Tensor, next_value: Tensor, terminated: Tensor, truncated: Tensor, gamma: float) -> Tensor:
    """Discounted return ``[..., B, T]`` of every step to the end of its window or episode (the target of Eq. 7).

    A terminated episode is worth nothing more. One that ran out of time, or out of window, goes on in expectation, so
    it is continued with ``next_value``, the value of the true next observation (before any reset).

    reward, terminated and truncated are ``[B, T]``. next_value (read only where `is_bootstrapped`) may be that of
    several critics, ``[..., B, T]``: then so are the returns.
    """
    # Each step's return is `paid + kept * what follows`. At 160 rows few operations are what counts, and taking columns
    # out of four tensors, step by step, was most of them.
    discount = gamma * terminated.logical_not()
    paid = torch.addcmul(reward, discount, next_value.where(truncated, 0.0))
    kept = discount.masked_fill(truncated, 0.0)
    tail = next_value[..., -1]
    returns = []
    for paid_now, kept_now in zip(reversed(paid.unbind(-1)), reversed(kept.unbind(-1)), strict=True):
        tail = torch.addcmul(paid_now, kept_now, tail)
        returns.append(tail)
    return torch.stack(returns[::-1], -1)


def is_bootstrapped(truncated: Tensor) -> Tensor:
    """Where ``[B, T]`` a value stands for the rest of the episode: at the time limit and at the window's end."""
    where = truncated.clone()
    where[:, -1] = True
    return where
