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


def log_softmax(logits: Tensor) -> Tensor:
    """Logarithms of probabilities ``[..., A]`` of few actions, laid out action by action.

    Torch computes them sample by sample where actions lie next to each other, and many samples at once where they do
    not: forward and backward of 2,560 samples and what follows take 0.19 instead of 0.46 ms.
    """
    return logits.movedim(-1, 0).log_softmax(0).movedim(0, -1)
