"""LIAM (Papoudakis, Christianos, Albrecht, 2021): a memory that can tell what the teammate sees and does."""

import math

from tensordict import TensorDictBase
from torch import Tensor
from torch.nn import functional

from brdiv.errors import UserError
from brdiv.games import TEAMMATE
from brdiv.learners.methods import PPO, LearnerSizes
from brdiv.nets import mlp
from brdiv.recurrent import Output
from brdiv.training.room import check_room


class LIAM(PPO):
    """Recurrent PPO whose memory also predicts the teammate's observation and action of the same step.

    Args:
        weight: Weight of both predictions' losses.
        hidden: Number of neurons in the decoder's hidden layer.

    """

    def __init__(self, weight: float = 0.5, hidden: int = 64) -> None:
        super().__init__()
        if not 0 <= weight < math.inf:
            raise UserError(f"weight is {weight}: it must be a number, and not a negative one")
        if hidden < 1:
            raise UserError(f"hidden is {hidden}: the decoder needs at least one neuron")
        self.weight = weight
        self.hidden = hidden

    def build(self, sizes: LearnerSizes) -> None:
        """Build the decoder, from the memory to the teammate's observation and the logits of its action."""
        self.observation_size = sizes.observation_size
        numbers = self.hidden * (sizes.memory + sizes.observation_size + sizes.n_actions)
        check_room(4 * numbers, f"a decoder with {self.hidden} neurons")  # gradients and two estimates of Adam, too
        self.decoder = mlp([sizes.memory, self.hidden], sizes.observation_size + sizes.n_actions)

    def auxiliary(self, output: Output, rollout: TensorDictBase) -> dict[str, Tensor]:
        """Squared error of the teammate's observation, and minus the log-probability of its action."""
        agents = rollout["agents"]
        seen, done = agents["observation"][..., TEAMMATE, :], agents["action"][..., TEAMMATE]
        decoded = self.decoder(output.memory)
        observation, logits = decoded.split([self.observation_size, decoded.shape[-1] - self.observation_size], -1)
        return {
            "teammate_observation": self.weight * functional.mse_loss(observation, seen),
            "teammate_action": self.weight * functional.cross_entropy(logits.flatten(0, -2), done.flatten()),
        }
