"""Whether there is anything to learn from: a team reward that never varies says nothing."""

import sys

import torch
from lightning import Callback, Trainer
from lightning.pytorch.utilities import rank_zero_only
from tensordict import TensorDictBase
from torch import Tensor

from brdiv.training import CountedModule

from .every import check_least


class RewardCheck(Callback):
    """Warns, once, if the team reward is the same at every step, as it is in a zero-sum game.

    Of several processes the first alone looks. Least and largest reward are kept on the device and read with the logs,
    until they differ.

    Args:
        after: Environment steps after which to warn; 0 never does.

    """

    def __init__(self, after: int = 200_000) -> None:
        check_least("rewards", after=(after, 0))
        self.after = after
        self.first_step = 0
        self.seen: tuple[Tensor, Tensor] | None = None
        self.over = after == 0

    @rank_zero_only
    def on_train_start(self, trainer: Trainer, module: CountedModule) -> None:
        """Count from the step of a resumed run."""
        self.first_step = module.env_steps

    @rank_zero_only
    def on_train_batch_end(
        self, trainer: Trainer, module: CountedModule, outputs: object, batch: TensorDictBase, batch_idx: int
    ) -> None:
        """Take in the rewards of a window ``[B, T]``."""
        if self.over:
            return
        least, most = torch.aminmax(batch["next", "reward"])
        if self.seen is not None:
            least, most = torch.minimum(least, self.seen[0]), torch.maximum(most, self.seen[1])
        self.seen = least, most
        if module.logs_now():
            self.judge(float(least), float(most), module.env_steps - self.first_step)

    def judge(self, least: float, most: float, steps: int) -> None:
        """Stop looking once rewards differ, or once it was said that they don't."""
        if least == most and steps < self.after:
            return
        self.over = True
        if least == most:
            print(
                f"brdiv: the team reward was {least:g} all through {steps:,} steps: either no team has found out how "
                "to earn any, or it never varies, as in a zero-sum game, and there is nothing to learn",
                file=sys.stderr,
                flush=True,
            )
