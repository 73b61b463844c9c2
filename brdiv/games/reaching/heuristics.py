"""The eleven heuristics of Cooperative Reaching (Appendix B.1)."""

from typing import NamedTuple

import torch
from torch import Tensor

from brdiv.games.policies import Policies, SeatView
from brdiv.games.reaching.rules import Reaching

ALL, OPTIMAL, SUBOPTIMAL = range(3)
NEAREST, FURTHEST, ANY, FOLLOW, RANDOM = range(5)
"""Which goal: the nearest, the furthest, or any; or none: to the learner itself, or a random walk."""
SIGN = (1.0, -1.0, 0.0, 0.0, 0.0)  # of distance, in what a goal costs
ITSELF, LEARNER = range(2)
STAY, LEFT, RIGHT, UP, DOWN = range(5)


class Seek(NamedTuple):
    """Go to a goal, as seen from itself or the learner."""

    goal: int
    of: int = ALL
    seen_from: int = ITSELF
    kept: bool = True  # chosen at the first step, and not again


HEURISTICS = {
    "H1": Seek(NEAREST),
    "H2": Seek(FURTHEST),
    "H3": Seek(NEAREST, OPTIMAL),
    "H4": Seek(FURTHEST, OPTIMAL),
    "H5": Seek(FURTHEST, SUBOPTIMAL),
    "H6": Seek(NEAREST, SUBOPTIMAL),
    "H7": Seek(ANY),
    "H8": Seek(NEAREST, seen_from=LEARNER, kept=False),
    "H9": Seek(NEAREST, OPTIMAL, seen_from=LEARNER, kept=False),
    "H10": Seek(FOLLOW, kept=False),
    "H11": Seek(RANDOM, kept=False),
}


class ReachingHeuristics(Policies):
    """All eleven, as a table that rows look their rule up in."""

    def __init__(self, game: Reaching) -> None:
        self.names = list(HEURISTICS)
        self.goals = torch.tensor(game.goals)
        optimal = [payoff == max(game.payoffs) for payoff in game.payoffs]
        # Where all goals pay the same, none is suboptimal: then all of them count.
        suboptimal = [not best for best in optimal] if not all(optimal) else optimal
        groups = torch.tensor([[True] * len(optimal), optimal, suboptimal])
        rules = list(HEURISTICS.values())
        self.allowed = groups[[rule.of for rule in rules]]  # [H, G]
        self.goal = torch.tensor([rule.goal for rule in rules])
        self.sign = torch.tensor([SIGN[rule.goal] for rule in rules])
        self.from_learner = torch.tensor([rule.seen_from == LEARNER for rule in rules])
        self.kept = torch.tensor([rule.kept for rule in rules])
        self.move_to(game.prizes.device)

    def begin(self, which: Tensor, seen: SeatView, generator: torch.Generator) -> dict[str, Tensor]:
        """Choose a first target."""
        assert seen.view is not None
        return {"target": self.choose(which, seen.view, generator)}

    def act(self, which: Tensor, seen: SeatView, memory: dict[str, Tensor], generator: torch.Generator) -> Tensor:
        """Go to the target, chosen anew where it isn't kept; or anywhere."""
        view = seen.view
        assert view is not None
        target = torch.where(self.kept[which, None], memory["target"], self.choose(which, view, generator))
        anything = torch.randint(5, which.shape, generator=generator, device=which.device)
        return torch.where(self.goal[which] == RANDOM, anything, towards(view[:, :2], target))

    def choose(self, which: Tensor, view: Tensor, generator: torch.Generator) -> Tensor:
        """Choose ``target [R, 2]``; ties are broken at random, distances being whole numbers."""
        itself, learner = view[:, :2], view[:, 2:4]
        origin = torch.where(self.from_learner[which, None], learner, itself)
        distance = (origin[:, None] - self.goals).abs().sum(-1)
        luck = torch.rand(distance.shape, generator=generator, device=view.device)
        cost = (self.sign[which, None] * distance + 0.5 * luck).masked_fill(~self.allowed[which], torch.inf)
        return torch.where((self.goal[which] == FOLLOW)[:, None], learner, self.goals[cost.argmin(-1)])


def towards(position: Tensor, target: Tensor) -> Tensor:
    """Step ``[R]`` from ``position [R, 2]`` to ``target [R, 2]``: left, else up, else right, else down, as needed."""
    x, y = (target - position).unbind(-1)
    action = torch.where(y > 0, DOWN, STAY)
    action = torch.where(x > 0, RIGHT, action)
    action = torch.where(y < 0, UP, action)
    return torch.where(x < 0, LEFT, action)
