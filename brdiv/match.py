"""Any policies of one seat with any of the other: thousands of pairings in one batch."""

import torch
from torch import Tensor

from brdiv.envs import Task
from brdiv.play import GAMMA, Episodes, in_parts, join, play
from brdiv.teammates import Policies, Seen


class Match:
    """Acts for both seats of R rows through one episode of each."""

    def __init__(self, teammates: Policies, learners: Policies, pairs: Tensor, generator: torch.Generator) -> None:
        self.policies = (teammates, learners)
        self.which = pairs.unbind(-1)
        self.generator = generator
        self.memory: list[object] | None = None

    def __call__(self, view: Tensor | None, observation: Tensor) -> Tensor:
        """Let both seats act on what they see, then let each know what the other did."""
        seen = [Seen(None if view is None else view[:, seat], observation[:, seat]) for seat in range(2)]
        turns = list(zip(self.policies, self.which, strict=True))
        if self.memory is None:
            self.memory = [
                policies.begin(which, own, self.generator) for (policies, which), own in zip(turns, seen, strict=True)
            ]
        actions = [
            policies.act(which, own, memory, self.generator)
            for (policies, which), own, memory in zip(turns, seen, self.memory, strict=True)
        ]
        for seat, (policies, which) in enumerate(turns):
            policies.watch(which, seen[1 - seat], actions[1 - seat], self.memory[seat])
        return torch.stack(actions, -1)


def play_pairs(
    task: Task,
    teammates: Policies,
    learners: Policies,
    pairs: Tensor,
    episodes: int,
    generator: torch.Generator,
    gamma: float = GAMMA,
) -> Episodes:
    """Play so many complete episodes of each of ``pairs [P, 2]`` (teammate, learner): Episodes ``[P, episodes]``."""
    if episodes < 1:
        raise ValueError(f"episodes is {episodes}: each pair must play at least one")
    rows = pairs.repeat_interleave(episodes, 0)
    parts = []
    for part in in_parts(len(rows), task):
        match = Match(teammates, learners, rows[part], generator)
        parts.append(play(task, match, len(rows[part]), generator, gamma))
    return Episodes(*(value.view(len(pairs), episodes) for value in join(parts)))


def all_pairs(teammates: Policies, learners: Policies, device: torch.device | str = "cpu") -> Tensor:
    """Every teammate with every learner, ``[T * L, 2]``, the learner changing fastest."""
    return torch.cartesian_prod(
        torch.arange(len(teammates), device=device), torch.arange(len(learners), device=device)
    ).view(-1, 2)
