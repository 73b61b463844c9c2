"""Learners to be evaluated: PLASTIC, prepared with a run's population, and those that were trained."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from brdiv.errors import UserError
from brdiv.evaluation.runs import Run
from brdiv.games import Playable
from brdiv.runs import RunFolder, load_learner
from brdiv.teamwork import Learner, Plastic, TrainedLearner
from brdiv.text import plain


class Prepared(NamedTuple):
    """A learner, and whom it knows."""

    name: str
    method: str
    seed: int
    policies: Learner
    game: Playable
    known: frozenset[str]  # checksums of the populations that it was prepared with, and names of heuristics
    tuned_by: frozenset[str] = frozenset()  # checksums of the populations that its settings were chosen by


def plastic_of(run: Run) -> Prepared:
    """Return the PLASTIC learner of a run's population."""
    policies = Plastic(run.population, name=run.name)
    return Prepared(run.name, run.method, run.seed, policies, run.game, frozenset([run.sha256]))


def load_prepared(paths: Sequence[Path], allow_imports: bool = False, taken: Iterable[str] = ()) -> list[Prepared]:
    """Load trained learners from files, run folders, or folders of runs; names that are ``taken`` get their path."""
    names = set(taken)
    found = []
    for file in (file for path in paths for file in find_learners(path)):
        saved = load_learner(file, allow_imports)
        about = saved.about
        label = plain(about.get("method", {}).get("label") or about.get("method", {}).get("name") or "learner", 60)
        sources = about.get("prepared_with", [])
        label = f"{label} ({plain(', '.join(sources), 60)})" if sources else label
        seed = int(about.get("seed", 0))
        name = f"{label} seed {seed}"
        name = name if name not in names else f"{name} ({file})"
        names.add(name)
        known = frozenset([*about["populations"], *about["teammates"]])
        policies = TrainedLearner(saved.net, name)
        found.append(Prepared(name, label, seed, policies, saved.game, known, frozenset(about.get("validation", []))))
    return found


def find_learners(path: Path) -> list[Path]:
    """Find learner files: the path itself, or all below a folder."""
    if not path.is_dir():
        return [path]
    found = sorted(path.rglob(RunFolder(path).learner.name))
    if not found:
        raise UserError(f"{plain(path, 1000)} holds no {RunFolder(path).learner.name}")
    return found


def check_games(learners: Sequence[Prepared]) -> None:
    """Refuse learners of different games."""
    for learner in learners[1:]:
        if not learner.game.same_as(learners[0].game):
            raise UserError(f"{learner.name} and {learners[0].name} play different games: evaluate them apart")


def print_kinds(strangers: Sequence[Run], trained: Sequence[Prepared], heuristics: bool) -> None:
    """Say which strangers are test, which validation, and which none: only the first belong into tables."""
    kinds: dict[str, list[str]] = {
        "test": ["heuristics"] if heuristics else [],
        "validation, left out for learners tuned by them": [],
        "training, left out for learners prepared with them": [],
    }
    test, validation, training = kinds.values()
    for run in strangers:
        known, tuned = ({sha for learner in trained for sha in kind(learner)} for kind in KINDS)
        (training if run.sha256 in known else validation if run.sha256 in tuned else test).append(run.name)
    for name, who in kinds.items():
        if who:
            print(f"strangers   {name}: {plain(', '.join(who), 1000)}")


KINDS: tuple[Callable[[Prepared], frozenset[str]], ...] = (lambda one: one.known, lambda one: one.tuned_by)
