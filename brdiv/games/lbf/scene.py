"""How Level-Based Foraging looks and is explained in a browser."""

from collections.abc import Sequence

from brdiv.games.lbf.cells import LOAD
from brdiv.games.lbf.drawing import entries
from brdiv.games.lbf.rules import LBF
from brdiv.games.scenes import PIECES, Action, Guide, Shape, grid, group, piece, polygon, text

ACTIONS = (
    Action("stay", "stay", (" ", "0")),
    Action("up", "↑", ("ArrowUp", "w")),
    Action("down", "↓", ("ArrowDown", "s")),
    Action("left", "←", ("ArrowLeft", "a")),
    Action("right", "→", ("ArrowRight", "d")),
    Action("lift", "lift", ("Enter", "l")),
)


def guide(game: LBF) -> Guide:
    """Explain the game, with its own numbers."""
    return Guide(
        "Level-Based Foraging",
        (
            "Both players move at the same time, one cell a step, around foods that can't be walked on.",
            "Stand beside a food, both of you, and lift in the same step: it goes when your levels together reach its "
            f"own, and pays 1/{game.foods}.",
            f"All {game.foods} foods lifted: won; after {game.horizon} steps the time is up.",
        ),
        ACTIONS,
        ((food(1, 0.42), "food, with the level that it takes"), (text(0, 0, "2", "label", 0.7), "a player's level")),
        (-0.6, -0.6, game.size + 0.2, game.size + 0.2),
        grid(game.size, game.size),
    )


def food(level: int, radius: float = 0.36) -> Shape:
    """Describe a food around the origin."""
    return group(f"food{level}", 0, 0, [polygon(0, 0, radius, 6, "food"), text(0, 0, str(level), "on-food", radius)])


def scene(game: LBF, view: Sequence[int]) -> list[Shape]:
    """Foods and players with their levels."""
    *foods, first, second = entries(game, view)
    lying = [
        group(f"food{row},{column}", column, row, [polygon(0, 0, 0.36, 6, "food"), text(0, 0, str(level), "on-food")])
        for row, column, level in foods
        if level
    ]
    players = [
        group(f"seat{seat}", column, row, piece(seat, 0.34, str(level)))
        for seat, (row, column, level) in enumerate((first, second))
    ]
    return lying + players


def news(game: LBF, before: Sequence[int], after: Sequence[int], action: Sequence[int], reward: float) -> str:
    """Say what was lifted, or why nothing was."""
    lifted = round(reward * game.foods)
    if lifted:
        left = sum(level > 0 for *_, level in entries(game, after)[: game.foods])
        what = "A food was" if lifted == 1 else f"{lifted} foods were"
        return f"{what} lifted together: {left} left." if left else f"{what} lifted together, the last: won."
    tried = [seat for seat in range(2) if action[seat] == LOAD]
    idle = [PIECES[seat] for seat in tried if not beside_food(game, after, seat)]
    if idle:
        return f"{' and '.join(idle)} lifted, but stood beside no food."
    if len(tried) == 2:
        return "Both lifted, but not at the same food."
    if tried:
        return f"{PIECES[tried[0]]} lifted alone: every food takes both players."
    return "Nobody lifted."


def beside_food(game: LBF, view: Sequence[int], seat: int) -> bool:
    """Whether a player stands beside a food that is left."""
    *foods, first, second = entries(game, view)
    row, column, _ = (first, second)[seat]
    return any(level and abs(row - there) + abs(column - across) == 1 for there, across, level in foods)
