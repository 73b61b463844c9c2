"""Episodes to look at: an animated GIF, a strip of pictures, or frames in the terminal."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from matplotlib.figure import Figure
from PIL import Image

import brdiv.envs
from brdiv.drawing import look_of
from brdiv.drawing.grid import COLOURS, NAMES
from brdiv.envs import Actor, Game
from brdiv.play import Act
from brdiv.plots import as_image
from brdiv.populations import PopulationFileError, load_population


class Frame(NamedTuple):
    """One moment of an episode."""

    episode: int
    step: int
    total: float  # reward so far
    view: list[int]  # seat 0's


class RandomPlay:
    """Acts uniformly at random in both seats."""

    def __init__(self, n_actions: int) -> None:
        self.n_actions = n_actions

    def act(
        self, observation: torch.Tensor, ids: torch.Tensor, generator: torch.Generator | None = None
    ) -> torch.Tensor:
        """Draw ``action [B, 2]``."""
        return torch.randint(self.n_actions, ids.shape, generator=generator, device=ids.device)


class RenderError(ValueError):
    """Why something can't be shown."""


def choose(what: str, pair: Sequence[int]) -> tuple[Game, Actor, tuple[int, int], str]:
    """Find the game, who plays it as which ids, and a title: from a population file, or a game's name for random play.

    ``pair`` counts from 1.
    """
    game_class = getattr(brdiv.envs, what, None)
    if isinstance(game_class, type) and issubclass(game_class, Game) and game_class is not Game:
        game = game_class()
        return game, RandomPlay(game.n_actions), (0, 0), f"{what}, random play"
    try:
        population, task, _ = load_population(what)
    except FileNotFoundError:
        raise RenderError(f"no population file at {what}, and no game of that name") from None
    except PopulationFileError as error:
        raise RenderError(str(error)) from None
    if not isinstance(task, Game):
        raise RenderError(f"{type(task).__name__} environments draw themselves; brdiv can't render them")
    if not all(1 <= number <= population.n_types for number in pair):
        raise RenderError(
            f"pair is {' '.join(map(str, pair))}: this population has teammates 1 to {population.n_types}"
        )
    title = f"{type(task).__name__}, teammate {pair[0]} with best response {pair[1]}"
    return task, population, (pair[0] - 1, pair[1] - 1), title


@torch.no_grad()
def record(game: Game, players: Callable[[], Act], episodes: int, generator: torch.Generator) -> list[Frame]:
    """Play episodes one after the other and keep every moment; ``players`` gives who acts, anew for each of them."""
    frames = []
    for episode in range(1, episodes + 1):
        state, act = game.initial(1, generator), players()
        total = 0.0
        frames.append(Frame(episode, 0, total, game.view(state)[0, 0].tolist()))
        for step in range(1, game.horizon + 1):
            view = game.view(state)
            state, reward, terminated = game.step(state, act(view, game.encode(view)))
            total += reward.item()
            frames.append(Frame(episode, step, total, game.view(state)[0, 0].tolist()))
            if terminated:
                break
    return frames


def caption(frame: Frame) -> str:
    """Say where in the episode a frame is."""
    return f"episode {frame.episode}, step {frame.step}, return {frame.total:.2f}"


def draw_frame(game: Game, frame: Frame, title: str) -> Figure:
    """Draw one moment with its caption and who is who."""
    figure = Figure(figsize=(3.6, 4.1), layout="constrained")
    axes = figure.add_subplot()
    look_of(game).draw(game, frame.view, axes)
    axes.set_title(f"{title}\n{caption(frame)}" if title else caption(frame), fontsize=9)
    add_legend(figure)
    return figure


def add_legend(figure: Figure) -> None:
    """Name the two colours below the picture."""
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], marker="o", linestyle="", markersize=7, color=colour, label=name)
        for colour, name in zip(COLOURS, NAMES, strict=True)
    ]
    figure.legend(handles=marks, loc="outside lower center", ncols=2, fontsize=8, frameon=False)


def save_gif(path: Path, game: Game, frames: Sequence[Frame], title: str = "", fps: float = 3.0) -> None:
    """Write an animation; the end of each episode stays a little longer."""
    images = [Image.fromarray(as_image(draw_frame(game, frame, title))) for frame in frames]
    last = [following is None or following.step == 0 for following in [*frames[1:], None]]
    durations = [round((4 if end else 1) * 1000 / fps) for end in last]
    images[0].save(path, save_all=True, append_images=images[1:], duration=durations, loop=0)


def save_strip(
    path: Path, game: Game, frames: Sequence[Frame], title: str = "", columns: int = 6, most: int = 24
) -> None:
    """Write pictures side by side, evenly chosen where there are more than ``most`` frames."""
    if len(frames) > most:
        chosen = torch.linspace(0, len(frames) - 1, most).round().long().unique().tolist()
        frames = [frames[number] for number in chosen]
    columns = min(columns, len(frames))
    rows = -(-len(frames) // columns)
    figure = Figure(figsize=(2.4 * columns, 2.6 * rows + 0.6), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat:
        axes.axis("off")
    for axes, frame in zip(grid.flat, frames, strict=False):
        look_of(game).draw(game, frame.view, axes)
        axes.set_title(caption(frame), fontsize=8)
    if title:
        figure.suptitle(title, fontsize=10)
    add_legend(figure)
    figure.savefig(path, dpi=110)


def print_frames(game: Game, frames: Sequence[Frame]) -> None:
    """Print every frame as text."""
    for frame in frames:
        print(f"\n{caption(frame)}")
        print(look_of(game).text(game, frame.view))
