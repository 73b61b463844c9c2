"""Episodes to look at: an animated GIF, a strip of pictures, or frames in the terminal."""

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from brdiv.figures.image import as_image
from brdiv.games import Frame, Playable
from brdiv.games.board import COLOURS, NAMES
from brdiv.text import for_figure


def caption(frame: Frame) -> str:
    """Say where in the episode a frame is."""
    return f"episode {frame.episode}, step {frame.step}, return {frame.total:.2f}"


def draw_frame(game: Playable, frame: Frame, title: str) -> Figure:
    """Draw one moment with its caption and who is who."""
    figure = Figure(figsize=(3.6, 4.1), layout="constrained")
    axes = figure.add_subplot()
    game.draw(frame.view, axes)
    # Of the figure: above axes that keep their shape, a title of two lines can be cut off.
    figure.suptitle(f"{for_figure(title)}\n{caption(frame)}" if title else caption(frame), fontsize=9)
    add_legend(figure, axes)
    return figure


def add_legend(figure: Figure, axes: Axes) -> None:
    """Name the two colours below the picture, and what else a game's drawing has labelled in its axes."""
    marks: list[Artist] = [
        Line2D([], [], marker="o", linestyle="", markersize=7, color=colour, label=name)
        for colour, name in zip(COLOURS, NAMES, strict=True)
    ]
    marks += axes.get_legend_handles_labels()[0]
    width, height = figure.get_size_inches()
    columns = min(len(marks), max(2, int(width / 1.3)))
    figure.set_size_inches(
        width, height + 0.22 * (-(-len(marks) // columns) - 1)
    )  # more lines don't shrink the picture
    figure.legend(handles=marks, loc="outside lower center", ncols=columns, fontsize=8, frameon=False)


def save_gif(path: Path, game: Playable, frames: Sequence[Frame], title: str = "", fps: float = 3.0) -> None:
    """Write an animation; the end of each episode stays a little longer."""
    images = [Image.fromarray(as_image(draw_frame(game, frame, title))) for frame in frames]
    last = [following is None or following.step == 0 for following in [*frames[1:], None]]
    durations = [round((4 if end else 1) * 1000 / fps) for end in last]
    images[0].save(path, save_all=True, append_images=images[1:], duration=durations, loop=0)


def small_gif(
    game: Playable, frames: Sequence[Frame], pixels: int = 168, most: int = 16, fps: float = 3.0, colours: int = 48
) -> bytes:
    """Draw an animation to stand among many others: the game alone, and no more than ``most`` moments of it.

    The first and the last are always there; an animation that leaves moments out takes as long as one that doesn't.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    chosen = evenly(frames, most)
    images = []
    for frame in chosen:
        figure = Figure(figsize=(2.1, 2.1), dpi=pixels / 2.1)
        canvas = FigureCanvasAgg(figure)
        game.draw(frame.view, figure.add_axes((0, 0, 1, 1)))
        canvas.draw()
        images.append(Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3]))
    palette = common_palette(images, colours)
    small = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    shown = 1000 / fps * len(frames) / len(chosen)
    durations = [*(round(shown) for _ in small[1:]), 1500]
    buffer = io.BytesIO()
    small[0].save(buffer, "gif", save_all=True, append_images=small[1:], duration=durations, loop=0, optimize=True)
    return buffer.getvalue()


def common_palette(images: Sequence[Image.Image], colours: int) -> Image.Image:
    """Make a palette of the commonest colours, as they are: grounds and players keep theirs, edges get the nearest."""
    pixels = np.concatenate([np.asarray(image).reshape(-1, 3)[::11] for image in images]).astype(np.int64)
    codes, counts = np.unique(pixels @ [65536, 256, 1], return_counts=True)
    chosen = codes[np.argsort(-counts)[:colours]]
    palette = Image.new("P", (1, 1))
    # Unused places repeat the first colour: filled with black, they would be chosen for dark edges.
    padded = [*chosen.tolist(), *[int(chosen[0])] * (colours - len(chosen))]
    palette.putpalette([part for code in padded for part in (code >> 16, code >> 8 & 255, code & 255)])
    return palette


def evenly(frames: Sequence[Frame], most: int) -> Sequence[Frame]:
    """Choose so many frames at most, the first and the last among them."""
    if len(frames) <= most:
        return frames
    chosen = np.unique(np.linspace(0, len(frames) - 1, most).round().astype(int)).tolist()
    return [frames[number] for number in chosen]


def save_strip(
    path: Path, game: Playable, frames: Sequence[Frame], title: str = "", columns: int = 6, most: int = 24
) -> None:
    """Write pictures side by side, evenly chosen where there are more than ``most`` frames."""
    frames = evenly(frames, most)
    columns = min(columns, len(frames))
    rows = -(-len(frames) // columns)
    figure = Figure(figsize=(max(2.4 * columns, 3.6), 2.6 * rows + 0.6), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat:
        axes.axis("off")
    for axes, frame in zip(grid.flat, frames, strict=False):
        game.draw(frame.view, axes)
        axes.set_title(caption(frame), fontsize=8)
    if title:
        figure.suptitle(for_figure(title), fontsize=10)
    add_legend(figure, grid.flat[0])
    figure.savefig(path, dpi=110)


def print_frames(game: Playable, frames: Sequence[Frame]) -> None:
    """Print every frame as text."""
    for frame in frames:
        print(f"\n{caption(frame)}")
        print(game.text(frame.view))
