"""PPO's formulas as functions of tensors (Schulman et al., 2016 and 2017)."""

import torch
from torch import Tensor


def advantages(
    reward: Tensor, value: Tensor, next_value: Tensor, done: Tensor, gamma: float, gae_lambda: float
) -> Tensor:
    """Generalised advantage estimates ``[B, T]``, each to the end of its window or episode; all inputs are ``[B, T]``.

    ``next_value`` is that of the true next observation, 0 where the game was over: an episode that ran out of time
    goes on in expectation.
    """
    error = reward + gamma * next_value - value
    decay = gamma * gae_lambda * done.logical_not()
    total = torch.zeros_like(error[:, 0])
    found = []
    for step in reversed(range(error.shape[1])):
        total = torch.addcmul(error[:, step], decay[:, step], total)
        found.append(total)
    return torch.stack(found[::-1], 1)


def normalised(advantage: Tensor) -> Tensor:
    """Advantages with mean 0 and deviation 1."""
    return (advantage - advantage.mean()) / (advantage.std() + 1e-8)


def clipped_loss(log_prob: Tensor, old_log_prob: Tensor, advantage: Tensor, clip: float) -> Tensor:
    """The clipped surrogate: no more is gained by a ratio of probabilities beyond ``1 +- clip``; all ``[...]``."""
    ratio = (log_prob - old_log_prob).exp()
    return -torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage).mean()


def value_loss(value: Tensor, target: Tensor) -> Tensor:
    """Half the squared error of the value; both ``[...]``."""
    return 0.5 * (value - target).square().mean()


def policy_entropy(log_probs: Tensor) -> Tensor:
    """Mean entropy of policies ``log_probs [..., A]``."""
    return -(log_probs.exp() * log_probs).sum(-1).mean()
