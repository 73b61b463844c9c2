"""TrajeDi (Lupu et al., 2021): teams whose trajectories differ, by their Jensen-Shannon divergence."""

import math
from typing import TYPE_CHECKING

import torch
from tensordict import TensorDictBase
from torch import Tensor

from brdiv.errors import UserError
from brdiv.objectives.base import Objective, check_not_negative

if TYPE_CHECKING:
    from brdiv.nets import Population


class TrajeDi(Objective):
    """Self-play plus the divergence of the K teams' trajectories, estimated on the windows that were collected.

    Args:
        action_discount: g, how far apart in time two actions may be to count together: 0 compares single actions, 1
            whole trajectories.
        weight: Weight of the divergence.
        clip: Largest importance weight. What a team would never do says little about it, so weights are clipped from
            above alone, by clipping their logarithm at log(clip).

    """

    def __init__(self, action_discount: float = 0.5, weight: float = 1e-3, clip: float = 10.0) -> None:
        super().__init__()
        check_not_negative(weight=weight)
        if not 0 <= action_discount <= 1:
            raise UserError(f"action_discount is {action_discount}: it must lie between 0 and 1")
        if clip < 1:
            raise UserError(f"clip is {clip}: below 1 it would clip the weight of the team that played")
        self.action_discount = action_discount
        self.weight = weight
        self.clip = clip

    @property
    def label(self) -> str:
        """TrajeDi0, TrajeDi025, TrajeDi05, ..."""
        return "TrajeDi" + f"{self.action_discount:g}".replace(".", "")

    def auxiliary(self, rollout: TensorDictBase, population: "Population") -> dict[str, Tensor]:
        """Weigh the negative divergence, to be minimised."""
        agents, done = rollout["agents"], rollout["next", "done"].squeeze(-1)
        log_probs = population.log_probs_of_all(agents["observation"], agents["action"]).sum(-2)
        divergence = trajectory_divergence(log_probs, rollout["ids"][..., 0], done, self.action_discount, self.clip)
        return {"trajectory_divergence": -self.weight * divergence}


def trajectory_divergence(log_probs: Tensor, ids: Tensor, done: Tensor, discount: float, clip: float) -> Tensor:
    """Estimate the Jensen-Shannon divergence of K teams from windows that each was played by one of them.

    ``log_probs [B, T, K]`` of the joint action by team k, ``ids [B, T]`` of the team that played, ``done [B, T]`` where
    an episode ended. An episode's end splits a window in two; every step weighs the same.
    """
    episode = done.cumsum(1) - done.long()  # [B, T], counted from 0 in each window
    together = episode[:, :, None] == episode[:, None, :]
    time = torch.arange(done.shape[1], device=done.device)
    apart = (time[:, None] - time[None, :]).abs()
    near = torch.pow(discount, apart.to(log_probs.dtype))  # 0 ** 0 is 1
    delta = (near * together) @ log_probs
    mixture = delta.logsumexp(-1, keepdim=True) - math.log(log_probs.shape[-1])
    with torch.no_grad():
        whole = together.to(log_probs.dtype) @ log_probs  # [B, T, K], of the episode's part of the window
        ratio = whole - whole.gather(-1, ids.unsqueeze(-1))
        importance = ratio.clamp(max=math.log(clip)).exp()
    return (importance * (delta - mixture)).mean()
