"""Who plays? A classifier of teams by what they do, for methods that reward being told apart."""

import torch
from tensordict import TensorDictBase
from torch import Tensor, nn
from torch.nn import functional

from brdiv.nets import SEATS, mlp
from brdiv.objectives.base import Sizes


class TeamClassifier(nn.Module):
    """q(k | s, a): which of the K teams does ``a`` in ``s``; both seats' views and actions in, shaped as the critic."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.n_actions = sizes.n_actions
        self.layers = mlp([SEATS * (sizes.observation_size + sizes.n_actions), *sizes.hidden], sizes.n_types)

    def forward(self, rollout: TensorDictBase) -> Tensor:
        """Log-probabilities ``[B, T, K]`` of the teams."""
        observation, action = rollout["agents", "observation"], rollout["agents", "action"]
        done = functional.one_hot(action, self.n_actions).to(observation.dtype)
        logits: Tensor = self.layers(torch.cat([observation.flatten(-2), done.flatten(-2)], -1))
        return logits.to(observation.dtype).log_softmax(-1)

    def log_likelihood(self, rollout: TensorDictBase) -> Tensor:
        """Log-probability ``[B, T]`` of the team that sits in the teammate's seat."""
        return self(rollout).gather(-1, rollout["ids"][..., :1]).squeeze(-1)
