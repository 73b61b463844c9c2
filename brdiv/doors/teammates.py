"""Who may sit in the teammate's seat, by name: of population files, heuristics, or anything at all."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from brdiv.errors import UserError
from brdiv.evaluation.agents import find_agent, find_learned
from brdiv.evaluation.evaluate import heuristics_of
from brdiv.games import TEAMMATE, Playable, Policies, shipped_games
from brdiv.runs import SavedPopulation, load_population
from brdiv.teamwork import Candidate, LearnedPolicies

Wanted = str | SavedPopulation | Policies | Sequence["str | SavedPopulation | Policies"]
"""One teammate or several: ``FILE``, ``FILE:3``, ``H1,H4``, ``heuristics``, ``random``, or what was loaded."""


class Teammates(NamedTuple):
    """Everyone who may sit in the teammate's seat, and what they play."""

    game: Playable
    names: list[str]
    candidates: list[Candidate]


def find_teammates(
    wanted: Wanted,
    game: str | Playable | None = None,
    settings: Mapping[str, Any] | None = None,
    allow_imports: bool = False,
) -> Teammates:
    """Look teammates up by name, and build what they play.

    The game is the one of the files, which must all play the same; where there is none, it is built by name and
    ``settings``. Both must fit where both are given.
    """
    files: dict[str, SavedPopulation] = {}
    parts = [part for entry in as_list(wanted) for part in split(entry)]
    for part in parts:
        if isinstance(part, SavedPopulation):
            files[part.about["sha256"]] = part
        elif isinstance(part, str) and (file := file_of(part)):
            files.setdefault(file, load_population(file, allow_imports))
    played = agree(game, settings or {}, files)
    names: list[str] = []
    candidates: list[Candidate] = []
    kinds = {file: LearnedPolicies(saved.population) for file, saved in files.items()}
    heuristics = played.heuristics()
    for part in parts:
        for name, policies, number in look_up(part, played, kinds, heuristics):
            names.append(name)
            candidates.append((policies, number))
    if not candidates:
        raise UserError("teammates names nobody; give a population file, FILE:3, H1, heuristics or random")
    return Teammates(played, names, candidates)


def as_list(wanted: Wanted) -> list[Any]:
    """Take one for a list of one."""
    return [wanted] if isinstance(wanted, str | SavedPopulation | Policies) else list(wanted)


def split(entry: Any) -> list[Any]:
    """Split names at commas, unless there is a file of the whole name."""
    if not isinstance(entry, str) or Path(entry).exists():
        return [entry]
    return [name.strip() for name in entry.split(",") if name.strip()]


def file_of(name: str) -> str:
    """Return the file that a name speaks of, as in FILE or FILE:3; empty where it is of none."""
    file, colon, _ = name.rpartition(":")
    if Path(name).exists():
        return name
    return file if colon else name if "/" in name else ""


def agree(game: str | Playable | None, settings: Mapping[str, Any], files: Mapping[str, SavedPopulation]) -> Playable:
    """Find the one game that is meant, refusing files of others."""
    if not files:
        if game is None:
            raise UserError("no teammate is of a population file: name the game")
        return build_game(game, settings)
    first, saved = next(iter(files.items()))
    for file, other in files.items():
        if not other.game.same_as(saved.game):
            raise UserError(f"{first} and {file} play different games")
    if isinstance(game, Playable) or (game is not None and settings):
        asked = build_game(game, settings)
        if not asked.same_as(saved.game):
            raise UserError(f"{first} plays {describe(saved.game)}, and not {describe(asked)}")
    elif game is not None and type(saved.game).__name__ != game:
        raise UserError(f"{first} plays {describe(saved.game)}, and not {game}")
    elif settings:
        raise UserError(f"{', '.join(settings)} can't be set: {first} plays {describe(saved.game)}")
    return saved.game


def build_game(game: str | Playable, settings: Mapping[str, Any]) -> Playable:
    """Build a game by name; one that was built already has its settings."""
    if isinstance(game, Playable):
        if settings:
            raise UserError(f"{', '.join(settings)} can't be set: {describe(game)} is built already")
        return game
    known = shipped_games()
    if game not in known:
        raise UserError(f"no game {game!r}; there are {', '.join(known)}")
    try:
        return known[game](**settings)
    except TypeError as error:
        raise UserError(f"{game}: {error}") from None


def describe(game: Playable) -> str:
    """Name a game with its settings."""
    return f"{type(game).__name__}({', '.join(f'{name}={value}' for name, value in game.settings().items())})"


def look_up(
    part: Any, game: Playable, kinds: Mapping[str, LearnedPolicies], heuristics: Policies | None
) -> list[tuple[str, Policies, int]]:
    """Everyone whom one entry names: what they are called, the policies they are of, and their number there."""
    if isinstance(part, Policies):
        return [(name, part, number) for number, name in enumerate(part.names)]
    if isinstance(part, SavedPopulation):
        policies = kinds[part.about["sha256"]]
        return [(f"teammate {number + 1}", policies, number) for number in range(len(policies))]
    if not isinstance(part, str):
        raise UserError(f"teammates: {part!r} is neither a name nor a population")
    file = file_of(part)
    if file == part:
        return [(f"{file}:{number + 1}", kinds[file], number) for number in range(len(kinds[file]))]
    if file:
        return [(part, kinds[file], find_learned(part, kinds[file].population, TEAMMATE).number)]
    if part == "heuristics":
        scripted = heuristics_of(game)
        return [(name, heuristics or scripted, number) for number, name in enumerate(scripted.names)]
    agent = find_agent(part, None, game, TEAMMATE)
    return [(part, agent.policies if part == "random" or heuristics is None else heuristics, agent.number)]
