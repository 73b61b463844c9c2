"""Guards against numbers that are not finite: training has come apart, and should stop before weights are lost."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from brdiv.errors import UserError


class NotFiniteError(UserError):
    """Training has come apart: what is not a number, and where."""


class LateGuard:
    """Notes on the device whether a number was not finite, and tells when it is asked.

    Off the CPU, looking at every number at once would stall the queue. What is noted is read with the logs and before
    a checkpoint, so nothing that came of it is kept.
    """

    def __init__(self) -> None:
        self.noted: Tensor | None = None  # [] whether there was one

    def note(self, numbers: Tensor) -> None:
        """Look at ``numbers [...]`` without reading them."""
        found = numbers.isfinite().all().logical_not()
        self.noted = found if self.noted is None else self.noted | found

    def check(self, env_steps: int) -> None:
        """Stop if there was one since the run began."""
        if self.noted is not None and self.noted:
            raise NotFiniteError(
                f"by {env_steps:,} steps a loss or a gradient was not finite: a lower learning_rate may help"
            )


def largest_gradients(optimizer: torch.optim.Optimizer) -> Tensor:
    """Largest entry ``[P]`` of each parameter's gradient, not finite where one of its entries is not."""
    gradients = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
    return torch.stack(torch._foreach_norm(gradients, float("inf")))


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
