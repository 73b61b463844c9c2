"""A learner that was trained: a recurrent network in the best response's seat."""

from collections.abc import Sequence

import torch
from torch import Tensor

from brdiv.games import SeatView
from brdiv.nets import sample
from brdiv.recurrent import RecurrentActorCritic, Seen
from brdiv.teamwork.plastic import Learner


class TrainedLearner(Learner):
    """Acts by what it remembers of the episode: its observations, its actions and its teammate's.

    Args:
        net: The network.
        name: What to call it.

    """

    needs_view = False

    def __init__(self, net: RecurrentActorCritic, name: str = "learner") -> None:
        self.net = net
        self.names: Sequence[str] = [name]

    def move_to(self, device: torch.device) -> None:
        """Move the network."""
        self.net.to(device)

    def begin(self, which: Tensor, seen: SeatView, generator: torch.Generator) -> dict[str, Tensor]:
        """Remember nothing; nobody has done anything."""
        nothing = torch.full_like(which, self.net.n_actions)
        return {"memory": self.net.start(len(which), which.device), "own": nothing, "other": nothing}

    @torch.no_grad()
    def act(self, which: Tensor, seen: SeatView, memory: dict[str, Tensor], generator: torch.Generator) -> Tensor:
        """Take in what is seen, and sample."""
        out = self.net.step(Seen(seen.observation, memory["own"], memory["other"]), memory["memory"])
        action = sample(out.logits, generator)
        memory["memory"], memory["own"] = out.memory, action
        return action

    @torch.no_grad()
    def probabilities(self, which: Tensor, seen: SeatView, memory: dict[str, Tensor]) -> Tensor:
        """What `act` would sample from."""
        out = self.net.step(Seen(seen.observation, memory["own"], memory["other"]), memory["memory"])
        return out.logits.softmax(-1)

    def watch(self, which: Tensor, other: SeatView, action: Tensor, memory: dict[str, Tensor]) -> None:
        """Note what the teammate did."""
        memory["other"] = action
