"""`brdiv serve`."""

from pathlib import Path

from brdiv.commands.line.checks import check_at_least, check_output
from brdiv.errors import UserError


def serve(
    runs: list[Path] | None = None,
    /,
    port: int = 8000,
    save: Path | None = None,
    most_games: int = 200,
    idle: float = 30.0,
    allow_imports: bool = False,
) -> None:
    """Play the games with agents in a browser, or watch them.

    Example: `brdiv serve runs/reaching-brdiv-seed0`

    The page is served to this machine alone. Agents are the heuristics of the three games, the teammates, best
    responses and PLASTIC learners of the populations that are named, and the learners that are.

    Args:
        runs: Population files, learner files, run folders, or folders of runs.
        port: Port to listen on; 0 chooses a free one.
        save: File to append episodes to as JSON lines, of players who agree to it; `brdiv play --replay` shows them.
        most_games: Number of games that may be played at once.
        idle: Minutes after which a game is ended that nobody touches.
        allow_imports: Import the custom game that a trusted file names.

    """
    check_at_least(1, most_games=most_games)
    if not 0 <= port <= 65535:
        raise UserError(f"port is {port}: it must lie from 0 to 65535")
    if not idle > 0:
        raise UserError(f"idle is {idle:g}: it must be positive")
    check_output(save, {".jsonl"})

    import asyncio

    import torch

    from brdiv.serve import build_app, find_offers, serve_until_stopped

    torch.set_num_threads(1)  # one row at a time: more threads would only wait for each other
    app = build_app(find_offers(runs or [], allow_imports), save, most_games, 60 * idle)
    asyncio.run(serve_until_stopped(app, port))
