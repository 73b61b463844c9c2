"""The losses of Algorithm 2 as functions of tensors. Each is one mean over self-play and cross-play."""

from torch import Tensor


def critic_loss(value: Tensor, target: Tensor) -> Tensor:
    """Half the squared error of V(s, i, j) against its n-step target (Eq. 7); both ``[...]``."""
    return 0.5 * (value - target).square().mean()


def actor_loss(log_prob: Tensor, advantage: Tensor) -> Tensor:
    """Both seats' log-probability times the advantage (Eq. 9).

    ``log_prob [..., 2]`` of the actions taken; ``advantage [...]``, not differentiated.
    """
    return -(log_prob.sum(-1) * advantage.detach()).mean()


def entropy(log_probs: Tensor) -> Tensor:
    """Entropy ``[...]`` of policies over A actions; ``log_probs [..., A]``."""
    return -(log_probs.exp() * log_probs).sum(-1)
