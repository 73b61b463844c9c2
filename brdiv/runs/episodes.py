"""Episodes that people played, as JSON lines: who sat where, what both seats saw and did, what was paid."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch

from brdiv.errors import MissingFileError, UserError
from brdiv.games import Frame, Game
from brdiv.runs.described_game import make_game
from brdiv.runs.description import is_class, is_whole
from brdiv.runs.description import parse as read_object
from brdiv.text import plain

FORMAT = 1
LONGEST_LINE = 10_000_000


class PlayedEpisode(NamedTuple):
    """A complete episode of T steps."""

    game: Game
    seats: Sequence[str]  # who sat in each
    views: list[list[list[int]]]  # [T + 1, 2, V] what both seats saw, the start first
    actions: list[list[int]]  # [T, 2]
    rewards: list[float]  # [T]
    won: bool  # else, time was up

    def to_line(self) -> str:
        """Write it as one line of JSON."""
        kind = type(self.game)
        game = {"name": kind.__name__, "module": kind.__module__, "settings": self.game.settings()}
        return json.dumps({"format": FORMAT, **self._asdict(), "game": game}, separators=(",", ":")) + "\n"

    def frames(self, number: int = 1) -> list[Frame]:
        """Every moment, to be drawn."""
        totals = torch.tensor([0.0, *self.rewards], dtype=torch.float64).cumsum(0).tolist()
        return [Frame(number, step, totals[step], both[0]) for step, both in enumerate(self.views)]


def read_episodes(path: Path, allow_imports: bool = False) -> list[PlayedEpisode]:
    """Read every episode of a file, and play each again: the rules must give the same views and rewards."""
    if not path.is_file():
        raise MissingFileError(f"no file of episodes at {path}")
    episodes = []
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), 1):
            if line.strip():
                try:
                    episodes.append(checked(parse(line, allow_imports)))
                except (KeyError, TypeError, ValueError, IndexError, RuntimeError, OverflowError) as error:
                    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
                    told = f"{plain(path, 1000)}, line {number} is not an episode, or is damaged: {plain(reason)}"
                    raise UserError(told) from None
    if not episodes:
        raise UserError(f"{path} holds no episode")
    return episodes


def parse(line: bytes, allow_imports: bool) -> PlayedEpisode:
    """Read one line."""
    entry = read_object(line)
    if not is_whole(entry.get("format"), FORMAT, FORMAT):
        raise ValueError(f"it is not of format {FORMAT}")
    if not is_class(entry.get("game")):
        raise ValueError("it doesn't say its game")
    game = make_game(entry["game"], allow_imports)
    if not isinstance(game, Game):
        raise ValueError("its game can't be drawn")
    seats, rewards = entry["seats"], entry["rewards"]
    if not (isinstance(seats, list) and len(seats) == 2 and all(isinstance(name, str) for name in seats)):
        raise ValueError("it doesn't say who sat in the two seats")
    if not (isinstance(rewards, list) and all(type(pay) in {int, float} for pay in rewards)):
        raise ValueError("its rewards are no numbers")
    return PlayedEpisode(
        game, tuple(seats), entry["views"], entry["actions"], [float(pay) for pay in rewards], entry["won"]
    )


def checked(episode: PlayedEpisode) -> PlayedEpisode:
    """Play the actions again from the first view, and refuse what the rules don't give."""
    game, steps = episode.game, len(episode.actions)
    if not len(episode.views) - 1 == steps == len(episode.rewards) <= game.horizon:
        raise ValueError("it doesn't have one view, action and reward for each step")
    views = torch.tensor(episode.views)
    if views.shape != (steps + 1, 2, game.view_size) or views.dtype != torch.long:
        raise ValueError("its views are not of its game")
    actions = torch.tensor(episode.actions).view(steps, 2)
    if ((actions < 0) | (actions >= game.n_actions)).any():
        raise ValueError("it has actions that there are not")
    state, won = game.from_view(views[:1]), False
    if not torch.equal(game.view(state), views[:1]):
        raise ValueError("its two seats begin in different places")
    game.text(episode.views[0][0])  # which looks things up by where they are: from there on the rules see to that
    for step in range(steps):
        state, reward, done = game.step(state, actions[step, None])
        won = bool(done)
        same = game.view(state)[0].tolist() == episode.views[step + 1]
        if not same or not abs(float(reward) - episode.rewards[step]) <= 1e-6:  # so no NaN
            raise ValueError(f"the rules give something else in step {step + 1}")
    if won is not episode.won:
        raise ValueError("the rules give another end")
    return episode
