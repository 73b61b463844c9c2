"""The rules of Cooperative Reaching."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from tensordict import TensorDict
from torch import Tensor
from torch.nn import functional

from brdiv.errors import UserError
from brdiv.games.base import Game
from brdiv.games.limits import LARGEST_GRID, check_horizon, check_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from brdiv.games.policies import Policies
    from brdiv.games.scenes import Guide, Shape
    from brdiv.games.strategies import Strategies

# stay, left, right, up, down as (dx, dy)
MOVES = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))


class Reaching(Game):
    """Cooperative Reaching (Section 6.1): meet on a corner.

    - State: ``positions [B, 2, 2]``, the (x, y) of each seat. Both start in the inner square; sharing a cell is fine.
    - Actions: 0 stay, 1 left, 2 right, 3 up, 4 down, simultaneous; a move off the grid stays.
    - Reward: when both stand on the same goal, that goal's payoff, and the task is done.
    - View ``[4]``: own x, y, other x, y. Networks see the own and the other's cell one-hot, ``[2 * size * size]``: with
      coordinates one by one, learning to shun three corners spoils the fourth (docs/diversity.md).

    Args:
        size: Width and height of the grid, from 3 to 48.
        goals: (x, y) of every goal.
        payoffs: What meeting on each goal pays, positive, in the order of the goals.
        horizon: Steps until time is up.

    """

    n_actions = len(MOVES)
    recordable = True
    response_steps = 120_000
    view_size = 4
    observation_bounds = (0.0, 1.0)
    seen: Tensor
    moves: Tensor
    prizes: Tensor
    goal_index: Tensor
    cell_rows: Tensor

    def __init__(
        self,
        size: int = 5,
        goals: Sequence[tuple[int, int]] = ((0, 0), (4, 4), (0, 4), (4, 0)),
        payoffs: Sequence[float] = (1.0, 1.0, 0.75, 0.75),
        horizon: int = 50,
    ) -> None:
        super().__init__()
        check_layout(size, goals, payoffs, horizon)
        self.size = size
        self.goals = [tuple(goal) for goal in goals]
        self.payoffs = list(payoffs)
        self.horizon = horizon
        self.observation_size = 2 * size**2
        prizes = torch.zeros(size, size)
        goal_index = torch.full((size, size), -1)
        for index, ((x, y), payoff) in enumerate(zip(goals, payoffs, strict=True)):
            prizes[x, y] = payoff
            goal_index[x, y] = index
        self.register_buffer("seen", torch.tensor([0, 1, 1, 0]), persistent=False)  # by seat 0, by seat 1
        self.register_buffer("moves", torch.tensor(MOVES), persistent=False)
        self.register_buffer("prizes", prizes, persistent=False)
        self.register_buffer("goal_index", goal_index, persistent=False)
        self.register_buffer("cell_rows", torch.eye(size**2), persistent=False)  # to look up: one_hot takes longer

    def initial(self, rows: int, generator: torch.Generator) -> TensorDict:
        """Put both agents anywhere off the border."""
        positions = torch.randint(1, self.size - 1, (rows, 2, 2), generator=generator, device=generator.device)
        return TensorDict({"positions": positions}, [rows], device=generator.device)

    def step(self, state: TensorDict, action: Tensor) -> tuple[TensorDict, Tensor, Tensor]:
        """Move both agents; done when they stand on one goal."""
        positions = self.move(state["positions"], action)
        reward = self.prize(positions)
        return TensorDict({"positions": positions}, state.batch_size), reward, reward > 0

    def move(self, positions: Tensor, action: Tensor) -> Tensor:
        """Walk ``action [..., 2]`` from ``positions [..., 2, 2]``, stopping at the walls."""
        return (positions + functional.embedding(action, self.moves)).clamp(0, self.size - 1)

    def prize(self, positions: Tensor) -> Tensor:
        """Pay ``[...]`` for ``positions [..., 2, 2]``: the goal's payoff if both are on it."""
        here, there = self.cells(positions).unbind(-1)
        return self.prizes.take(here) * (here == there)

    def cells(self, positions: Tensor) -> Tensor:
        """Number the cells ``[...]`` of ``positions [..., 2]``, one column after the other."""
        x, y = positions.unbind(-1)
        return torch.add(y, x, alpha=self.size)

    def view(self, state: TensorDict) -> Tensor:
        """Own x, y, then the other's."""
        positions = state["positions"]
        return torch.cat([positions, positions.flip(1)], -1)

    def from_view(self, view: Tensor) -> TensorDict:
        """Take each seat's own half of its view."""
        return TensorDict({"positions": view[..., :2].long()}, view.shape[:1])

    def encode(self, view: Tensor) -> Tensor:
        """One-hot both cells."""
        return self.features(self.cells(view.unflatten(-1, (2, 2))))

    def observe(self, state: TensorDict) -> Tensor:
        """Encode the view without making it."""
        return self.features(self.cells(state["positions"]).index_select(-1, self.seen).unflatten(-1, (2, 2)))

    def features(self, cells: Tensor) -> Tensor:
        """One-hot ``cells [..., 2]``, the own and the other's."""
        return functional.embedding(cells, self.cell_rows).flatten(-2)

    def action_names(self) -> list[str]:
        """Stay, or a direction."""
        return ["stay", "left", "right", "up", "down"]

    def observation_names(self) -> list[str]:
        """Who stands where."""
        cells = [(x, y) for x in range(self.size) for y in range(self.size)]
        return [f"{who} x is {x} and y is {y}" for who in ("own", "other's") for x, y in cells]

    def view_names(self) -> list[str]:
        """Coordinates."""
        return ["own x", "own y", "other's x", "other's y"]

    def strategies(self) -> "Strategies":
        """The goal that the two meet on."""
        from brdiv.games.reaching.strategies import Goals

        return Goals(self)

    def heuristics(self) -> "Policies":
        """H1 to H11 (Appendix B.1)."""
        from brdiv.games.reaching.heuristics import ReachingHeuristics

        return ReachingHeuristics(self)

    def draw(self, view: Sequence[int], axes: "Axes") -> None:
        """Goals with their payoffs, and both agents."""
        from brdiv.games.reaching.drawing import draw

        draw(self, view, axes)

    def text(self, view: Sequence[int]) -> str:
        """One character per cell."""
        from brdiv.games.reaching.drawing import text

        return text(self, view)

    def guide(self) -> "Guide":
        """Explain the game to people."""
        from brdiv.games.reaching.scene import guide

        return guide(self)

    def scene(self, view: Sequence[int]) -> "list[Shape]":
        """Show the view in a browser."""
        from brdiv.games.reaching.scene import scene

        return scene(self, view)

    def news(self, before: Sequence[int], after: Sequence[int], action: Sequence[int], reward: float) -> str:
        """Say what was paid, and why."""
        from brdiv.games.reaching.scene import news

        return news(self, before, after, action, reward)


def check_layout(size: int, goals: Sequence[tuple[int, int]], payoffs: Sequence[float], horizon: int) -> None:
    """Refuse grids that can't be played, naming what is wrong."""
    check_whole("size", size, 3, LARGEST_GRID)  # the grid needs an inner square to start in
    check_horizon(horizon)
    if not goals:
        raise UserError("goals is empty: give at least one (x, y)")
    if len(goals) != len(payoffs):
        raise UserError(f"there are {len(goals)} goals and {len(payoffs)} payoffs: give one payoff for each goal")
    for goal, payoff in zip(goals, payoffs, strict=True):
        if len(goal) != 2 or not all(type(place) is int and 0 <= place < size for place in goal):
            raise UserError(f"goal {tuple(goal)} is outside the grid of {size} x {size}")
        if isinstance(payoff, bool) or not 0 < torch.tensor(payoff, dtype=torch.float32) < float("inf"):
            raise UserError(f"goal {tuple(goal)} pays {payoff}: payoffs must be positive numbers of float32")
    if len({tuple(goal) for goal in goals}) < len(goals):
        raise UserError("goals repeats a cell")
