"""`brdiv play`."""

from pathlib import Path

from brdiv.commands.line.checks import check_at_least, check_output, writing
from brdiv.commands.line.cores import use_threads, warn_if_crowded
from brdiv.errors import UserError


def play(
    first: str,
    second: str,
    game: str | None = None,
    episodes: int = 256,
    out: Path | None = None,
    text: bool = False,
    drawn: int = 1,
    fps: float = 3.0,
    seed: int = 0,
    threads: int = 2,
    allow_imports: bool = False,
) -> None:
    """Let two agents play each other, and look at them.

    Example: `brdiv play H3 runs/reaching-brdiv-seed0:1 --out play.gif`

    An agent is FILE:K, teammate or best response K of a population file or run folder, counted from 1; FILE:plastic,
    the learner prepared with all of them; the name of a heuristic, as H3; or random.

    Args:
        first: Agent in the teammate's seat.
        second: Agent in the best response's seat.
        game: Name of the game, needed where neither agent is of a population file.
        episodes: Number of complete episodes to measure.
        out: File to draw episodes to: a .gif animation, or a .png strip of pictures.
        text: Print every step of the drawn episodes in the terminal.
        drawn: Number of episodes to draw or print.
        fps: Steps per second in an animation.
        seed: Seed of the episodes.
        threads: Number of CPU threads that torch may use.
        allow_imports: Import the custom game or external environment that a trusted file names.

    """
    check_at_least(1, episodes=episodes, drawn=drawn, threads=threads)
    if not 0 < fps <= 100:
        raise UserError(f"fps is {fps:g}: it must be positive, and at most 100")
    check_output(out, {".gif", ".png"})

    import torch

    from brdiv.evaluation.agents import find_pair, measure_pair, record_pair
    from brdiv.figures import print_frames, save_gif, save_strip

    pair = find_pair(first, second, game, allow_imports)
    torch.set_num_threads(use_threads(threads))
    warn_if_crowded(torch.get_num_threads())
    print(measure_pair(pair, episodes, seed))
    if not (text or out):
        return
    frames = record_pair(pair, drawn, seed)
    title = f"{type(pair.game).__name__}: {pair.first.name} with {pair.second.name}"
    if text:
        print_frames(pair.game, frames)
    if out:
        with writing(out):
            if out.suffix == ".gif":
                save_gif(out, pair.game, frames, title, fps)
            else:
                save_strip(out, pair.game, frames, title)
        print(f"{len(frames)} frames in {out}")
