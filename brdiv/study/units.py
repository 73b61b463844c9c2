"""What is measured of populations: units that don't depend on each other, nor on who else was measured when."""

import functools
import hashlib
import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch

from brdiv.errors import UserError
from brdiv.games import Playable, Policies
from brdiv.nets import Population
from brdiv.runs import SavedLearner, SavedPopulation, load_learner, load_population
from brdiv.study.cells import Cell
from brdiv.study.plan import Measuring
from brdiv.teamwork import (
    LearnedPolicies,
    Plastic,
    SeveralPolicies,
    TrainedLearner,
    all_pairs,
    both_seats,
    cross_play,
    play_pairs,
    team_strategies,
)

LEARNER = "plastic"
HEURISTICS, GENERATED, ITSELF = "heuristics", "generated", "itself"

HEADS = {
    "cross_play": ("method", "seed", "teammate", "response", "episodes", "mean_return", "mean_length"),
    "episodes": (
        "method", "seed", "learner", "scenario", "teammate_method", "teammate_seed", "teammate", "episode", "return",
        "length",
    ),
    "strategies": ("method", "seed", "team", "strategy", "share"),
}  # fmt: skip
"""Columns of the files that are written for a game."""

Row = tuple[str | int, ...]
Rows = dict[str, list[Row]]


class Source(NamedTuple):
    """A population to be measured, or whose teams are met; or a trained learner, by its name."""

    method: str
    seed: int
    path: Path
    sha256: str
    imports: bool = False  # whether what its file names may be imported
    known: frozenset[str] = frozenset()  # checksums of populations that a learner was trained with or tuned by


class Unit(NamedTuple):
    """A population by itself, or a learner prepared with it, with the heuristics or with all teams of a method."""

    scenario: str
    learner: Source
    met: str  # the method whose teams are met; the scenario's name where it is none's
    strangers: tuple[Source, ...]
    trained: Source | None = None  # the learner, where it is not PLASTIC, which is made of the population alone

    @property
    def who(self) -> str:
        """Name the learner."""
        return LEARNER if self.trained is None else self.trained.method

    @property
    def key(self) -> str:
        """Name the unit."""
        return key_of(self.learner.method, self.learner.seed, self.who, self.scenario, self.met)

    def digest(self, how: Measuring) -> str:
        """Sum up all that its outcome depends on."""
        of = [self.key, self.learner.sha256, [(each.seed, each.sha256) for each in self.strangers], how._asdict()]
        of += [] if self.trained is None else [self.trained.sha256]
        return hashlib.sha256(json.dumps(of).encode()).hexdigest()

    def generator(self, how: Measuring) -> torch.Generator:
        """Random numbers of its own: the order in which units are measured doesn't matter."""
        digest = hashlib.sha256(f"{how.seed} {self.key}".encode()).digest()
        return torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))


def key_of(method: str, seed: int | str, learner: str, scenario: str, met: str) -> str:
    """Name a unit."""
    return f"{method}/seed{seed}{'' if learner == LEARNER else f' {learner}'} {scenario} {met}"


def units_of(cells: Sequence[Cell], imports: Collection[Cell] = ()) -> Iterator[Unit]:
    """List what there is to measure of the finished cells of one game.

    What population files name is imported only for those among ``imports``.
    """
    found = [(cell, load(cell.run.population, cell in imports)) for cell in cells if not cell.learner]
    trained = trained_learners(cells, imports)
    sources = [Source(c.method, c.seed, c.run.population, str(s.about["sha256"]), c in imports) for c, s in found]
    check_same_game(found)
    has_heuristics = bool(found) and found[0][1].game.heuristics() is not None
    for source in sources:
        yield Unit(ITSELF, source, ITSELF, ())
        for learner in (None, *trained.get((source.method, source.seed), ())):
            if has_heuristics:
                yield Unit(HEURISTICS, source, HEURISTICS, (), learner)
            for method in dict.fromkeys(other.method for other in sources):
                # A learner's own teams are no strangers to it, nor those that it was tuned by.
                known = {source.sha256} if learner is None else learner.known
                strangers = tuple(s for s in sources if s.method == method and s.sha256 not in known)
                if strangers:
                    yield Unit(GENERATED, source, method, strangers, learner)


def trained_learners(cells: Collection[Cell], imports: Collection[Cell]) -> dict[tuple[str, int], list[Source]]:
    """Find the learners that were trained with each population, by its method and seed.

    One that was trained with another than is there now is refused.
    """
    found: dict[tuple[str, int], list[Source]] = {}
    for cell in cells:
        if cell.needs is not None and cell.needs in cells:
            about = load_trained(cell.result, cell in imports).about
            if cell.needs.about()["sha256"] not in about["populations"]:
                raise UserError(f"{cell.name} was trained with another {cell.needs.name}: remove {cell.run}")
            known = frozenset((*about["populations"], *about.get("validation", ())))
            source = Source(cell.learner, cell.seed, cell.result, str(about["sha256"]), cell in imports, known)
            found.setdefault((cell.method, cell.seed), []).append(source)
    return found


def check_same_game(found: Sequence[tuple[Cell, SavedPopulation]]) -> None:
    """Refuse populations of different games under one name."""
    for cell, saved in found:
        first = found[0][1].game
        if not saved.game.same_as(first):
            ours, theirs = (f"{type(game).__name__}{game.settings()}" for game in (first, saved.game))
            raise UserError(
                f"{cell.name} plays {theirs}, and {found[0][0].name} plays {ours}: name their configs apart"
            )


@functools.lru_cache(maxsize=64)
def load(path: Path, imports: bool = False) -> SavedPopulation:
    """Load a population once."""
    return load_population(path, imports)


@functools.lru_cache(maxsize=64)
def load_trained(path: Path, imports: bool = False) -> SavedLearner:
    """Load a trained learner once."""
    return load_learner(path, imports)


def game_modules(units: Sequence[Unit]) -> set[str]:
    """Tell which modules have the games of some units, all of them imported here by now."""
    sources = {source for unit in units for source in (unit.learner, *unit.strangers)}
    return {type(load(source.path, source.imports).game).__module__ for source in sources}


def measure(unit: Unit, how: Measuring) -> Rows:
    """Play a unit: rows by the name of the file that they go to."""
    torch.set_num_threads(1)
    population, game, _ = load(unit.learner.path, unit.learner.imports)
    generator = unit.generator(how)
    if unit.scenario == ITSELF:
        return measure_itself(unit, how, generator)
    if unit.scenario == HEURISTICS:
        strangers = game.heuristics()
        assert strangers is not None
        who = [(HEURISTICS, "", name) for name in strangers.names]
        episodes = how.episodes
    else:
        parts = [LearnedPolicies(load(each.path, each.imports).population) for each in unit.strangers]
        strangers, episodes = SeveralPolicies(parts), how.generated_episodes
        who = [
            (each.method, str(each.seed), str(team))
            for each, part in zip(unit.strangers, parts, strict=True)
            for team in range(1, len(part) + 1)
        ]
    learner = learner_of(unit, population)
    played = play_pairs(game, strangers, learner, all_pairs(strangers, learner), episodes, generator)
    start = (unit.learner.method, unit.learner.seed, unit.who, unit.scenario)
    returns, lengths = played.returns.tolist(), played.lengths.tolist()
    rows: list[Row] = [
        (*start, *name, number, f"{value:.6g}", length)
        for name, values, steps in zip(who, returns, lengths, strict=True)
        for number, (value, length) in enumerate(zip(values, steps, strict=True), 1)
    ]
    return {"episodes": rows}


def learner_of(unit: Unit, population: Population) -> Policies:
    """Seat the learner of a unit."""
    if unit.trained is None:
        return Plastic(population)
    return TrainedLearner(load_trained(unit.trained.path, unit.trained.imports).net)


def measure_itself(unit: Unit, how: Measuring, generator: torch.Generator) -> Rows:
    """Play every pair of a population, and tell by which strategy each team wins."""
    population, game, _ = load(unit.learner.path, unit.learner.imports)
    method, seed, episodes = unit.learner.method, unit.learner.seed, how.cross_play_episodes
    played = cross_play(game, *both_seats(population), episodes, generator)
    returns, lengths = played.returns.mean(-1).tolist(), played.lengths.float().mean(-1).tolist()
    rows: list[Row] = [
        (method, seed, i, j, episodes, f"{value:.6g}", f"{length:.6g}")
        for i, (values, steps) in enumerate(zip(returns, lengths, strict=True), 1)
        for j, (value, length) in enumerate(zip(values, steps, strict=True), 1)
    ]
    return {"cross_play": rows, "strategies": strategy_rows(unit, population, game, episodes, generator)}


def strategy_rows(
    unit: Unit, population: Population, game: Playable, episodes: int, generator: torch.Generator
) -> list[Row]:
    """By which strategy each team wins; without a name where it mostly doesn't, no rows where games don't tell."""
    teams = team_strategies(game, *both_seats(population), episodes, generator)
    start = (unit.learner.method, unit.learner.seed)
    return [
        (*start, number, "" if team is None else team.name, "" if team is None else f"{team.share:.6g}")
        for number, team in enumerate(teams or [], 1)
    ]
