"""Guards against numbers that are not finite: training has come apart, and should stop before weights are lost."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from brdiv.errors import UserError


class NotFiniteError(UserError):
    """Training has come apart: what is not a number, and where."""


def check_losses(losses: Mapping[str, Tensor], total: Tensor, env_steps: int) -> None:
    """Stop before a loss that is infinite or not a number, and so their total, reaches the weights."""
    if not total.isfinite():
        wrong = {name: loss for name, loss in losses.items() if not loss.isfinite()} or {"all together": total}
        values = ", ".join(f"{name} is {loss.item()}" for name, loss in wrong.items())
        raise NotFiniteError(f"after {env_steps:,} steps the loss of {values}: a lower learning_rate may help")


def check_gradients(optimizer: torch.optim.Optimizer, module: nn.Module, env_steps: int) -> None:
    """Stop before a gradient that is infinite or not a number reaches the weights."""
    learning = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
    if not nn.utils.get_total_norm(learning).isfinite():
        gradients = {name: p.grad for name, p in module.named_parameters() if p.grad is not None}
        wrong = [name for name, gradient in gradients.items() if not gradient.isfinite().all()]
        if wrong:  # if none, they are finite but for their squares
            raise NotFiniteError(
                f"after {env_steps:,} steps the gradient of {', '.join(wrong)} is not finite: "
                "a lower learning_rate may help"
            )


def check_finite(module: nn.Module) -> None:
    """Refuse to save or resume weights that are infinite or not a number."""
    for name, parameter in module.named_parameters():
        if not parameter.isfinite().all():
            raise NotFiniteError(f"weights {name} are not finite; their last gradient was not either")
