"""What episodes earn while they are trained on: self-play and cross-play, without playing one more."""

from typing import Any

import torch
from lightning import Callback, Trainer
from tensordict import TensorDictBase
from torch import Tensor, distributed

from brdiv.training import TeammateGenerator
from brdiv.training.ranks import gather, rank_and_size

from .watched import data_of

KINDS = ("self_play", "cross_play")


class TrainingReturns(Callback):
    """Logs the mean undiscounted return of the episodes that ended since the last log, of self-play and cross-play.

    Everything is counted on the device, row by row, and read when it is logged. A row plays one kind for good.
    """

    def __init__(self) -> None:
        # [3, B]: what the episode under way was paid so far; what those were that ended since the last log; how many.
        self.tally = torch.zeros(3, 0)

    def state_dict(self) -> dict[str, Any]:
        """Where all ranks stand, so that a run that resumes logs what it would have logged. Every rank must ask."""
        return {"ranks": gather({"tally": self.tally.cpu()})}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Resume from there."""
        self.tally = state_dict["ranks"][rank_and_size()[0]]["tally"]

    def on_train_start(self, trainer: Trainer, module: TeammateGenerator) -> None:
        """Start counting; or resume, but for episodes of an external environment, which starts new ones."""
        data = data_of(trainer)
        if self.tally.shape[1] != data.pairing.rows:
            self.tally = torch.zeros(3, data.pairing.rows)
        self.tally = self.tally.to(module.device)
        if data.collector is None or data.collector.now is None:
            self.tally[0] = 0.0

    def on_train_batch_end(
        self, trainer: Trainer, module: TeammateGenerator, outputs: object, batch: TensorDictBase, batch_idx: int
    ) -> None:
        """Count the window, and log with the losses."""
        self.observe(batch)
        if module.logs_now():
            module.report(self.means(batch["ids"][:, 0], data_of(trainer).mixed_rows(module.device)))

    @torch.no_grad()
    def observe(self, rollout: TensorDictBase) -> None:
        """Take in a window ``[B, T]``."""
        reward, done = (rollout["next", name].squeeze(-1) for name in ("reward", "done"))
        # Up to a row's last end in the window, everything was paid to episodes that have ended.
        ended_later = done.flip(1).cummax(1).values.flip(1)
        earned, any_ended = (reward * ended_later).sum(1), ended_later[:, 0]
        under_way, paid, ended = self.tally
        paid += earned + under_way * any_ended
        ended += done.sum(1)
        under_way.mul_(~any_ended).add_(reward.sum(1) - earned)

    def means(self, ids: Tensor, mixed: Tensor) -> dict[str, float]:
        """Mean returns by name, of rows that play ``ids [B, 2]``, over all ranks; nothing of what has not ended.

        Rows of mixed play, ``mixed [B]``, are of neither kind.

        Every rank must ask. Counting starts anew.
        """
        own = ids[:, 0] == ids[:, 1]
        kinds = torch.stack([own, ~own], 1) & ~mixed[:, None]
        sums = self.tally[1:] @ kinds.to(self.tally.dtype)  # [paid and ended, kind]
        if rank_and_size()[1] > 1:
            distributed.all_reduce(sums)
        self.tally[1:] = 0.0
        paid, ended = sums.tolist()
        return {f"training_return/{kind}": p / n for kind, p, n in zip(KINDS, paid, ended, strict=True) if n}
