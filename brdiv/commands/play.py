"""`brdiv play`."""

from pathlib import Path
from typing import TYPE_CHECKING

from brdiv.commands.line.checks import check_at_least, check_output, check_seed, writing
from brdiv.commands.line.cores import use_threads, warn_if_crowded
from brdiv.errors import UserError

if TYPE_CHECKING:
    from brdiv.games import Frame, Playable


def play(
    first: str | None = None,
    second: str | None = None,
    /,
    game: str | None = None,
    episodes: int = 256,
    out: Path | None = None,
    text: bool = False,
    drawn: int = 1,
    fps: float = 3.0,
    seed: int = 0,
    threads: int = 2,
    allow_imports: bool = False,
    replay: Path | None = None,
) -> None:
    """Let two agents play each other, and look at them.

    Example: `brdiv play H3 runs/reaching-brdiv-seed0:1 --out play.gif`

    An agent is FILE:K, teammate or best response K of a population file or run folder, counted from 1; FILE:plastic,
    the learner prepared with all of them; FILE, a learner that `brdiv learn` trained, who takes the best response's
    seat whichever of the two is named first; the name of a heuristic, as H3; or random.

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
        replay: File of episodes that `brdiv serve --save` kept, to be shown in place of two agents' play.

    """
    check_at_least(1, episodes=episodes, drawn=drawn, threads=threads)
    check_seed(seed)
    if not 0 < fps <= 100:
        raise UserError(f"fps is {fps:g}: it must be positive, and at most 100")
    check_output(out, {".gif", ".png"})
    if replay:
        if first or game:
            raise UserError("--replay shows who has played: name no agents and no game")
        show_again(replay, out, drawn, fps, allow_imports)
        return
    if first is None or second is None:
        missing = "first, second are" if first is None else "second is"
        raise UserError(f"{missing} missing: name two agents, or a file to --replay")

    import torch

    from brdiv.evaluation.agents import find_pair, measure_pair, record_pair
    from brdiv.figures import print_frames

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
        draw(out, pair.game, frames, title, fps)


def show_again(replay: Path, out: Path | None, drawn: int, fps: float, allow_imports: bool) -> None:
    """Show episodes of a file: all of them in the terminal, or the first few as pictures."""
    from brdiv.figures import print_frames
    from brdiv.runs import read_episodes

    episodes = read_episodes(replay, allow_imports)
    for number, episode in enumerate(episodes, 1):
        end = "won" if episode.won else "time is up"
        title = f"{type(episode.game).__name__}: {episode.seats[0]} with {episode.seats[1]}"
        paid = sum(episode.rewards)
        print(f"episode {number}: {title}, {len(episode.actions)} steps, {end}, return {paid:.3f}")
        if out is None:
            print_frames(episode.game, episode.frames(number))
    if out is not None:
        first = episodes[0]
        alike = [episode for episode in episodes if episode.game.same_as(first.game)][:drawn]
        frames = [frame for number, episode in enumerate(alike, 1) for frame in episode.frames(number)]
        draw(out, first.game, frames, f"{type(first.game).__name__}: {first.seats[0]} with {first.seats[1]}", fps)


def draw(out: Path, game: "Playable", frames: "list[Frame]", title: str, fps: float) -> None:
    """Draw moments to a file."""
    from brdiv.figures import save_gif, save_strip

    with writing(out):
        if out.suffix == ".gif":
            save_gif(out, game, frames, title, fps)
        else:
            save_strip(out, game, frames, title)
    print(f"{len(frames)} frames in {out}")
