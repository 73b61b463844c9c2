"""Any-Play (Lucas and Allen, 2022): teams that a classifier can tell apart by what they do."""

from typing import TYPE_CHECKING, Any

import torch
from tensordict import TensorDictBase
from torch import Tensor

from brdiv.errors import UserError
from brdiv.objectives.base import Objective, Sizes, check_not_negative
from brdiv.objectives.classifier import TeamClassifier

if TYPE_CHECKING:
    from brdiv.nets import Population


class AnyPlay(Objective):
    """Self-play with an intrinsic reward, weight * log q(team | state, action), for being recognised.

    Args:
        intrinsic_weight: Weight of the intrinsic reward. The paper uses 0.01 on Cooperative Reaching, 0.001 elsewhere.
        classifier_weight: Weight of the classifier's cross-entropy.
        classifier_learning_rate: Learning rate of the classifier; the model's if none is given.

    """

    def __init__(
        self,
        intrinsic_weight: float = 1e-3,
        classifier_weight: float = 1.0,
        classifier_learning_rate: float | None = None,
    ) -> None:
        super().__init__()
        check_not_negative(intrinsic_weight=intrinsic_weight, classifier_weight=classifier_weight)
        if classifier_learning_rate is not None and not classifier_learning_rate > 0:
            raise UserError(f"classifier_learning_rate is {classifier_learning_rate}: it must be positive")
        self.intrinsic_weight = intrinsic_weight
        self.classifier_weight = classifier_weight
        self.classifier_learning_rate = classifier_learning_rate

    def build(self, sizes: Sizes) -> None:
        """Build the classifier."""
        super().build(sizes)
        self.classifier = TeamClassifier(sizes)

    @torch.no_grad()
    def bonus(self, rollout: TensorDictBase) -> Tensor:
        """Reward ``[B, T]`` what gives the team away."""
        return self.intrinsic_weight * self.classifier.log_likelihood(rollout)

    def auxiliary(self, rollout: TensorDictBase, population: "Population") -> dict[str, Tensor]:
        """Cross-entropy of the classifier."""
        return {"classifier": -self.classifier_weight * self.classifier.log_likelihood(rollout).mean()}

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Give the classifier its own learning rate where one is set."""
        own = {} if self.classifier_learning_rate is None else {"lr": self.classifier_learning_rate}
        return [{"params": list(self.parameters()), **own}]
