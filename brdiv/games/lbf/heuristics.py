"""The ten heuristics of Level-Based Foraging (Appendix B.2)."""

import itertools

import torch
from torch import Tensor

from brdiv.games.lbf.cells import EAST, LOAD, MOVES, NORTH, SOUTH, WEST
from brdiv.games.lbf.rules import LBF
from brdiv.games.policies import Policies, SeatView

FIRST_NEEDED = (NORTH, SOUTH, EAST, WEST)  # in this order

NEAREST, MIDPOINT, ORDER, LEARNER, FURTHEST = range(5)
"""Which food to go for: nearest to itself, to the midpoint, next in a fixed order, nearest to the learner, furthest."""

HEURISTICS = {
    "H1": NEAREST,
    "H2": MIDPOINT,
    **{f"H{number}": ORDER for number in range(3, 9)},
    "H9": LEARNER,
    "H10": FURTHEST,
}


class LBFHeuristics(Policies):
    """All ten, as a table that rows look their rule up in."""

    def __init__(self, game: LBF) -> None:
        self.game = game
        self.moves = torch.tensor(MOVES[: EAST + 1])
        self.first_needed = torch.tensor(FIRST_NEEDED)
        self.names = list(HEURISTICS)
        self.rule = torch.tensor(list(HEURISTICS.values()))
        # H3..H8 are the first six orders over the foods' indices, with three foods all there are.
        orders = list(itertools.islice(itertools.cycle(itertools.permutations(range(game.foods))), 6))
        place = [[order.index(index) for index in range(game.foods)] for order in orders]
        ordered = [number for number, rule in enumerate(HEURISTICS.values()) if rule == ORDER]
        self.place_in_order = torch.zeros(len(self.names), game.foods, dtype=torch.long)
        self.place_in_order[ordered] = torch.tensor(place)
        self.move_to(game.placements.device)

    def begin(self, which: Tensor, seen: SeatView, generator: torch.Generator) -> dict[str, Tensor]:
        """Remember where the foods lie, give them random indices, and choose what is furthest."""
        foods, itself, _ = self.read(seen)
        luck = torch.rand(foods.shape[:2], generator=generator, device=foods.device)
        index = luck.argsort(-1)
        turn = self.place_in_order[which].gather(-1, index)  # when each food is due, for H3..H8
        return {"foods": foods, "turn": turn, "target": self.furthest(foods, foods, itself)}

    def read(self, seen: SeatView) -> tuple[Tensor, Tensor, Tensor]:
        """Foods ``[R, F, 2]``, (-1, -1) for what is gone, and both players ``[R, 2]``."""
        assert seen.view is not None
        entries = seen.view.unflatten(-1, (self.game.foods + 2, 3))[..., :2]
        return entries[:, : self.game.foods], entries[:, self.game.foods], entries[:, self.game.foods + 1]

    def act(self, which: Tensor, seen: SeatView, memory: dict[str, Tensor], generator: torch.Generator) -> Tensor:
        """Go for the target, and load beside it."""
        left, itself, learner = self.read(seen)
        foods = memory["foods"]
        rule = self.rule[which]
        # np.rint and torch.round both round halves to even.
        middle = ((itself + learner) / 2).round()
        origin = torch.where((rule == MIDPOINT)[:, None], middle, itself.float())
        origin = torch.where((rule == LEARNER)[:, None], learner.float(), origin)
        cost = (foods - origin[:, None]).square().sum(-1)
        cost = torch.where((rule == ORDER)[:, None], memory["turn"].float(), cost)
        present = there(foods, left)
        nearest = pick(foods, cost.masked_fill(~present, torch.inf))
        # H10's target is kept until it is collected.
        kept = there(memory["target"][:, None], left).squeeze(1)
        memory["target"] = torch.where(kept[:, None], memory["target"], self.furthest(foods, left, itself))
        target = torch.where((rule == FURTHEST)[:, None], memory["target"], nearest)
        return self.approach(itself, target, left, generator)

    def furthest(self, foods: Tensor, left: Tensor, itself: Tensor) -> Tensor:
        """Find the remaining food ``[R, 2]`` that is furthest from itself."""
        cost = -(foods - itself[:, None]).square().sum(-1).float()
        return pick(foods, cost.masked_fill(~there(foods, left), torch.inf))

    def approach(self, itself: Tensor, target: Tensor, left: Tensor, generator: torch.Generator) -> Tensor:
        """Load beside the target, else make the first needed and allowed step, else any valid action."""
        way = target - itself
        needed = torch.stack([way[:, 0] < 0, way[:, 0] > 0, way[:, 1] > 0, way[:, 1] < 0], -1)
        valid = self.valid(itself, left)
        useful = needed & valid.index_select(1, self.first_needed)
        luck = torch.rand(valid.shape, generator=generator, device=valid.device)
        anything = luck.masked_fill(~valid, -1.0).argmax(-1)
        first = self.first_needed[useful.byte().argmax(-1)]
        action = torch.where(useful.any(-1), first, anything)
        return torch.where(way.abs().sum(-1) == 1, LOAD, action)

    def valid(self, itself: Tensor, left: Tensor) -> Tensor:
        """Which actions ``[R, 6]`` do something, or are to stay: moves onto the grid and off food, load beside food."""
        cells = itself[:, None] + self.moves
        inside = ((cells >= 0) & (cells < self.game.size)).all(-1)
        on_food = (cells[:, :, None] == left[:, None]).all(-1).any(-1)
        beside = ((itself[:, None] - left).abs().sum(-1) == 1).any(-1)
        return torch.cat([inside & ~on_food, beside[:, None]], -1)


def there(foods: Tensor, left: Tensor) -> Tensor:
    """Which of ``foods [R, N, 2]`` are among those ``left [R, F, 2]``."""
    return ((foods[:, :, None] == left[:, None]).all(-1) & (foods[..., :1] >= 0)).any(-1)


def pick(foods: Tensor, cost: Tensor) -> Tensor:
    """Take the food ``[R, 2]`` of least ``cost [R, F]``, the first of several; foods come in row-major order."""
    return foods.gather(1, cost.argmin(-1)[:, None, None].expand(-1, 1, 2)).squeeze(1)
