"""Cells on disk: a run folder each, beside it a log, a lock, and a file that says how it stands."""

import json
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from brdiv.errors import UserError
from brdiv.runs import RunFolder, about_learner, read_about
from brdiv.runs.whole import write_whole

WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"


@dataclass(frozen=True)
class State:
    """How a cell stands, as its file says."""

    state: str = WAITING
    why: str = ""  # it failed
    seconds: float = 0.0  # of training, all attempts together
    attempts: int = 0
    steps: int = 0  # environment steps that are trained and kept
    started: float = 0.0  # when the last attempt began, in seconds since 1970


class Cell(NamedTuple):
    """One run of a study: a game, a method and a seed; and a learner, where one is trained with that population."""

    folder: Path  # of the method on this game
    seed: int
    game: str
    method: str
    threads: int = 1
    options: tuple[str, ...] = ()  # of `brdiv fit`; what is trained if there are none is in `settings`
    learner: str = ""  # nothing for a population
    needs: "Cell | None" = None  # the population that it is trained with

    @property
    def name(self) -> str:
        """Name it in tables and messages."""
        return "/".join(part for part in (self.group, f"seed{self.seed}") if part)

    @property
    def group(self) -> str:
        """Name what all seeds have in common."""
        return "/".join(part for part in (self.game, self.method, self.learner) if part)

    @property
    def run(self) -> RunFolder:
        """The folder of its run."""
        return RunFolder(self.folder / f"seed{self.seed}")

    @property
    def result(self) -> Path:
        """What the run leaves: a population or a learner."""
        return self.run.learner if self.learner else self.run.population

    @property
    def log(self) -> Path:
        """What the run prints."""
        return self.folder / f"seed{self.seed}.log"

    @property
    def lock(self) -> Path:
        """What whoever trains the cell holds on to."""
        return self.folder / f".seed{self.seed}.lock"

    @property
    def state_file(self) -> Path:
        """How it stands."""
        return self.folder / f"seed{self.seed}.json"

    @property
    def settings(self) -> Path:
        """Every setting of the method on this game, as it was resolved before the first of its cells began."""
        return self.folder / "settings.yaml"

    @property
    def begun(self) -> bool:
        """Whether anything is kept of the cell that other settings would not fit to."""
        return self.result.exists() or bool(self.run.numbered_checkpoints())

    def state(self) -> State:
        """Read how the cell stands. A file that was lost or damaged says nothing; what the run wrote still counts."""
        try:
            found = json.loads(self.state_file.read_text())
            return State(**{name: found[name] for name in State.__dataclass_fields__ if name in found})
        except (OSError, ValueError, TypeError):
            return State()

    def write(self, state: State) -> State:
        """Write how the cell stands, whole or not at all."""
        write_json(self.state_file, asdict(state))
        return state

    def settle(self) -> State:
        """Find out how a cell stands that nobody trains, whatever its file says: the study may have been killed.

        Its lock must be held.
        """
        state = self.state()
        if state.state == FAILED or (state.state == DONE and self.result.exists()):
            return state
        steps = self.finished_steps()
        if steps is not None:
            ended = self.run.checkpoint(steps).stat().st_mtime
            seconds = state.seconds + max(0.0, ended - state.started) * (state.state == RUNNING)
            return self.write(replace(state, state=DONE, why="", seconds=round(seconds, 1), steps=steps))
        kept = max(self.run.numbered_checkpoints(), default=0)
        if (state.state, state.steps) == (WAITING, kept):
            return state
        return self.write(replace(state, state=WAITING, why="", steps=kept))

    def about(self) -> dict[str, Any]:
        """Read what the file that the run left says of itself."""
        return (about_learner if self.learner else read_about)(self.result)

    def finished_steps(self) -> int | None:
        """Return the steps of the run if it is over.

        The last checkpoint appears when all else is written: a finished population without it has no tables yet.
        """
        try:
            about = self.about()
        except UserError:
            return None
        steps = int(about.get("steps", 0))
        return steps if about.get("finished") and self.run.checkpoint(steps).exists() else None


def write_json(path: Path, content: Any) -> None:
    """Write a file whole or not at all."""
    write_whole(path, json.dumps(content, indent=1) + "\n")


def now() -> float:
    """Seconds since 1970."""
    return round(time.time(), 1)
