"""LIPO (Charakorn et al., 2023): teams that are incompatible with the team nearest to them."""

from typing import TYPE_CHECKING, Literal

import torch
from tensordict import TensorDictBase
from torch import Tensor

from brdiv.objectives.base import Objective, Sizes, check_not_negative
from brdiv.objectives.classifier import TeamClassifier
from brdiv.objectives.pair_returns import PairReturns, check_memory

if TYPE_CHECKING:
    from brdiv.nets import Population


class LIPO(Objective):
    """Maximise sum_i (C_ii - cross_play_weight * XP_i), XP_i being how well team i plays with other teams.

    Team i plays with team j what both mixtures of the two earn on average, (C_ij + C_ji) / 2.

    Args:
        cross_play_weight: What a unit of cross-play return costs.
        against: Whether XP_i is the return with the most compatible other team, or the mean over all.
        mutual_information_weight: Weight of an intrinsic reward, log q(team | state, action), for being told apart
            from the other teams; 0 leaves it out.
        memory: Number of updates over which the pairs' returns are averaged, to know which team is most compatible.

    """

    cross_play = True

    def __init__(
        self,
        cross_play_weight: float = 0.5,
        against: Literal["best", "mean"] = "best",
        mutual_information_weight: float = 0.0,
        memory: float = 100.0,
    ) -> None:
        super().__init__()
        check_not_negative(cross_play_weight=cross_play_weight, mutual_information_weight=mutual_information_weight)
        check_memory(memory)
        self.cross_play_weight = cross_play_weight
        self.against = against
        self.mutual_information_weight = mutual_information_weight
        self.memory = memory

    def build(self, sizes: Sizes) -> None:
        """Build the estimates, and the classifier if it is wanted."""
        super().build(sizes)
        self.returns = PairReturns(self.n_types, self.memory)
        self.classifier = TeamClassifier(sizes) if self.mutual_information_weight else None

    def observe(self, rollout: TensorDictBase, progress: float) -> None:
        """Follow what the pairs earn."""
        self.returns.observe(rollout)

    def slope(self, ids: Tensor) -> Tensor:
        """1 for self-play; for cross-play what it costs the two teams it mixes."""
        if self.against == "best":
            share = best_partner_share(self.returns.matrix())
        else:
            share = torch.full_like(self.returns.matrix(), 1.0 / (self.n_types - 1))
        i, j = ids.unbind(-1)
        return torch.where(i == j, 1.0, -self.cross_play_weight * share[i, j])

    @torch.no_grad()
    def bonus(self, rollout: TensorDictBase) -> Tensor | None:
        """Reward ``[B, T]`` what gives the team away, in self-play alone: a mixture is nobody's behaviour."""
        if self.classifier is None:
            return None
        i, j = rollout["ids"].unbind(-1)
        return self.mutual_information_weight * self.classifier.log_likelihood(rollout) * (i == j)

    def auxiliary(self, rollout: TensorDictBase, population: "Population") -> dict[str, Tensor]:
        """Cross-entropy of the classifier, on self-play."""
        if self.classifier is None:
            return {}
        i, j = rollout["ids"].unbind(-1)
        own = (i == j).to(torch.get_default_dtype())
        return {"classifier": -(self.classifier.log_likelihood(rollout) * own).sum() / own.sum().clamp(min=1.0)}


def best_partner_share(cross_play: Tensor) -> Tensor:
    """How much ``[K, K]`` each C_ij counts in the sum over teams of their return with their most compatible other.

    Team i's counts C_ij and C_ji by half each, where j is most compatible with it. Where several are, they share it.
    """
    together = (cross_play + cross_play.T) / 2
    together = together.masked_fill(torch.eye(len(together), dtype=torch.bool, device=together.device), -torch.inf)
    best = (together == together.amax(1, keepdim=True)).to(cross_play.dtype)
    chosen = best / best.sum(1, keepdim=True)
    return (chosen + chosen.T) / 2
