"""Who can be played with: every game, its heuristics, and the agents of the populations that were named."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from brdiv.errors import UserError
from brdiv.evaluation.agents import Agent, find_agent, find_learned, find_trained
from brdiv.evaluation.runs import find_populations
from brdiv.games import RESPONSE, TEAMMATE, Game, shipped_games
from brdiv.nets import Population
from brdiv.runs import RunFolder, SavedLearner, is_learner, load_learner, load_population
from brdiv.teamwork import both_seats, cross_play

EPISODES = 32
"""How many episodes of each pair a cross-play matrix is measured by."""
SEED = 0
SHIPPED = {file.stem: file for file in (Path(__file__).parent / "populations").glob("*.safetensors")}
"""What comes with the package: `brdiv fit --config lbf --seed_everything 1` made it."""


class Offer:
    """A game, and who plays it."""

    def __init__(self, name: str, game: Game) -> None:
        self.name = name
        self.game = game
        self.populations: dict[str, Population] = {}
        self.matrices: dict[str, list[list[float]]] = {}
        heuristics = game.heuristics()
        plain = ["random", *(heuristics.names if heuristics else [])]
        self.seats: list[dict[str, Agent]] = [
            {text: find_agent(text, None, game, seat) for text in plain} for seat in (TEAMMATE, RESPONSE)
        ]

    def add(self, label: str, population: Population) -> None:
        """Offer the teammates, best responses and the learner of a population, by the names that `brdiv play` knows."""
        self.populations[label] = population
        numbers = [f"{label}:{number}" for number in range(1, population.n_types + 1)]
        for seat, names in ((TEAMMATE, numbers), (RESPONSE, [f"{label}:plastic", *numbers])):
            own = {text: find_learned(text, population, seat) for text in names}
            self.seats[seat] = own | self.seats[seat]

    def add_learner(self, label: str, saved: SavedLearner) -> None:
        """Offer a learner that was trained; it sits where best responses do."""
        self.seats[RESPONSE] = {label: find_trained(label, saved, RESPONSE)} | self.seats[RESPONSE]

    def believer(self, agents: Sequence[str]) -> Population | None:
        """Whose types PLASTIC is to believe in: those of a population that plays, or else of the first there is."""
        for text in reversed(agents):
            label = text.rpartition(":")[0]
            if label in self.populations:
                return self.populations[label]
        return next(iter(self.populations.values()), None)

    def matrix(self, label: str) -> list[list[float]]:
        """Measure what every teammate of a population earns with every best response, once."""
        if label not in self.matrices:
            generator = torch.Generator().manual_seed(SEED)
            played = cross_play(self.game, *both_seats(self.populations[label]), EPISODES, generator)
            self.matrices[label] = played.returns.mean(-1).tolist()
        return self.matrices[label]

    def described(self) -> dict[str, Any]:
        """Say what there is, for the page."""
        guide = self.game.guide()
        start = self.game.view(self.game.initial(1, torch.Generator().manual_seed(SEED)))[0, 0].tolist()
        return {
            "name": self.name,
            "guide": {**guide._asdict(), "actions": [action._asdict() for action in guide.actions]},
            "preview": self.game.scene(start),
            "horizon": self.game.horizon,
            "seats": [[{"id": text, "name": agent.name} for text, agent in seat.items()] for seat in self.seats],
            "populations": {label: population.n_types for label, population in self.populations.items()},
        }


def find_offers(runs: Sequence[Path], allow_imports: bool = False) -> list[Offer]:
    """Offer the shipped games, and populations and learners of some runs; games that were named come first.

    Where no run is named there is one of LBF that comes with the package: who has trained nothing yet can play, too.
    """
    files = [found for path in runs for found in find_files(path)] or list(SHIPPED.items())
    offers = [Offer(name, game()) for name, game in shipped_games().items()]
    named: list[Offer] = []
    for label, file in files:
        saved = load_learner(file, allow_imports) if is_learner(file) else load_population(file, allow_imports)
        if not isinstance(saved.game, Game):
            raise UserError(
                f"{file} plays {type(saved.game).__name__}, which brdiv can't draw: nobody can play it here"
            )
        offer = offer_of(saved.game, offers)
        if isinstance(saved, SavedLearner):
            offer.add_learner(label, saved)
        else:
            offer.add(label, saved.population)
        if offer not in named:
            named.append(offer)
    return named + [offer for offer in offers if offer not in named]


def find_files(path: Path) -> list[tuple[str, Path]]:
    """Find populations and learners, each with its label: the path itself, or all below a folder."""
    whole = path.resolve()
    learners = [whole] if whole.is_file() and is_learner(whole) else sorted(whole.rglob(RunFolder(whole).learner.name))
    # A folder without any population is refused, unless it has learners.
    populations = [] if learners and not any(whole.rglob(RunFolder(whole).population.name)) else find_populations(path)
    return [(label_of(path, file), file) for file in [*populations, *learners]]


def offer_of(game: Game, offers: list[Offer]) -> Offer:
    """Return the offer of a game, added to the others if it is a new one."""
    offer = next((offer for offer in offers if offer.game.same_as(game)), None)
    if offer is None:
        offer = Offer(new_name(type(game).__name__, offers), game)
        offers.append(offer)
    return offer


def new_name(wanted: str, offers: Sequence[Offer]) -> str:
    """Name a game that is played with other settings, too."""
    taken = {offer.name for offer in offers}
    number = 2
    name = wanted
    while name in taken:
        name, number = f"{wanted} {number}", number + 1
    return name


def label_of(path: Path, file: Path) -> str:
    """Name a population or learner as it was named on the command line, or by where it lies below that."""
    whole = path.resolve()
    return str(path if file in {whole, whole / file.name} else path / file.parent.relative_to(whole))
