"""How Cooperative Reaching looks and is explained in a browser."""

from collections.abc import Sequence

from brdiv.games.reaching.rules import Reaching
from brdiv.games.scenes import PIECES, Action, Guide, Shape, grid, group, piece, rect, text

ACTIONS = (
    Action("stay", "stay", (" ", "0")),
    Action("left", "←", ("ArrowLeft", "a")),
    Action("right", "→", ("ArrowRight", "d")),
    Action("up", "↑", ("ArrowUp", "w")),
    Action("down", "↓", ("ArrowDown", "s")),
)


def guide(game: Reaching) -> Guide:
    """Explain the game, with its own numbers."""
    best, least = max(game.payoffs), min(game.payoffs)
    pays = f"{best:g}" if best == least else f"what is written there, from {least:g} to {best:g}"
    goals = [
        [
            rect(x, y, 0.96, 0.96, "goal-best" if payoff == best else "goal", 0.06),
            text(x, y - 0.36, f"pays {payoff:g}", "label", 0.17),
        ]
        for (x, y), payoff in zip(game.goals, game.payoffs, strict=True)
    ]
    return Guide(
        "Cooperative Reaching",
        (
            "Both players move at the same time, one cell a step, and can't talk.",
            f"Meet on the same goal: that pays the team {pays}, and the game is won.",
            f"After {game.horizon} steps the time is up: find out where your partner is going, or make it follow you.",
        ),
        ACTIONS,
        ((rect(0, 0, 0.9, 0.9, "goal-best", 0.06), f"goal that pays {best:g}"),)
        + (((rect(0, 0, 0.9, 0.9, "goal", 0.06), "goal that pays less"),) if best != least else ()),
        (-0.6, -0.6, game.size + 0.2, game.size + 0.2),
        [*grid(game.size, game.size), *(shape for goal in goals for shape in goal)],
    )


def scene(game: Reaching, view: Sequence[int]) -> list[Shape]:
    """Both players; side by side where they share a cell."""
    cells = (view[0], view[1]), (view[2], view[3])
    aside = 0.22 if cells[0] == cells[1] else 0.0
    radius = 0.2 if aside else 0.3
    return [
        group(f"seat{seat}", x + (-aside, aside)[seat], y + 0.06, piece(seat, radius))
        for seat, (x, y) in enumerate(cells)
    ]


def news(game: Reaching, before: Sequence[int], after: Sequence[int], action: Sequence[int], reward: float) -> str:
    """Say what was paid, or what is missing."""
    cells = [tuple(after[:2]), tuple(after[2:])]
    if reward > 0:
        return f"Both stand on a goal that pays {reward:g}: won."
    on_goal = [PIECES[seat] for seat in range(2) if cells[seat] in game.goals]
    if cells[0] == cells[1]:
        return "You met, but not on a goal: nothing is paid."
    if len(on_goal) == 2:
        return "Both stand on goals, but on different ones: nothing is paid."
    return f"{on_goal[0]} stands on a goal, alone." if on_goal else "Nobody stands on a goal."
