"""`brdiv show`."""

from pathlib import Path

from brdiv.commands.line.checks import check_at_least, check_output, check_seed, writing
from brdiv.commands.line.cores import use_threads, warn_if_crowded
from brdiv.errors import UserError


def show(
    file: Path,
    episodes: int = 256,
    seed: int = 0,
    threads: int = 2,
    allow_imports: bool = False,
    picture: Path | None = None,
) -> None:
    """Describe a population, and measure its cross-play matrix by playing.

    Example: `brdiv show runs/reaching-brdiv-seed0`

    Args:
        file: Population file, or the folder of its run.
        episodes: Number of episodes of each pair; 0 only describes.
        seed: Seed of the episodes.
        threads: Number of CPU threads that torch may use.
        allow_imports: Import the custom game or external environment that a trusted file names.
        picture: File to write the matrix to as a picture (PNG, PDF or SVG).

    """
    check_at_least(0, episodes=episodes)
    check_at_least(1, threads=threads)
    check_seed(seed)
    if picture and not episodes:
        raise UserError("a picture needs episodes; give --episodes at least 1")
    check_output(picture, {".png", ".pdf", ".svg"})

    import torch

    from brdiv.evaluation.tables import print_about, print_cross_play
    from brdiv.figures import cross_play_heatmap
    from brdiv.runs import load_population
    from brdiv.teamwork import both_seats, cross_play

    population, game, about = load_population(file, allow_imports)
    print_about(about)
    if episodes:
        torch.set_num_threads(use_threads(threads))
        warn_if_crowded(torch.get_num_threads())
        generator = torch.Generator().manual_seed(seed)
        matrix = cross_play(game, *both_seats(population), episodes, generator).returns.mean(-1)
        print_cross_play(matrix)
        if picture:
            with writing(picture):
                cross_play_heatmap(matrix, type(game).__name__).savefig(picture, dpi=150)
            print(f"picture {picture}")
