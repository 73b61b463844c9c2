"""An observer that keeps what happened, to be drawn."""

from brdiv.games import Frame
from brdiv.teamwork.play import Turn


class Recorder:
    """Keeps every moment of the first ``episodes`` rows."""

    def __init__(self, episodes: int) -> None:
        self.episodes: list[list[Frame]] = [[] for _ in range(episodes)]
        self.running = [True] * episodes

    def __call__(self, turn: Turn) -> None:
        """Keep a moment of the episodes that run."""
        assert turn.view is not None, "what has no view can't be drawn"
        rows = len(self.episodes)
        views, rewards, done = (values[:rows].tolist() for values in (turn.view[:, 0], turn.reward, turn.done))
        for row, frames in enumerate(self.episodes):
            if self.running[row]:
                total = rewards[row] + (frames[-1].total if frames else 0.0)
                frames.append(Frame(row + 1, turn.step, total, views[row]))
                self.running[row] = not done[row]

    def frames(self) -> list[Frame]:
        """All moments, one episode after the other."""
        return [frame for frames in self.episodes for frame in frames]
