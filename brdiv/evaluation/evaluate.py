"""How robust learners are who were prepared with teammates: each of them with strangers, cell by cell."""

from collections.abc import Sequence
from typing import NamedTuple

import torch

from brdiv.errors import UserError
from brdiv.evaluation.bounds import bounds_of
from brdiv.evaluation.prepared import Prepared, check_games, plastic_of
from brdiv.evaluation.runs import Run, check_same_game
from brdiv.evaluation.scores import Cell, Evaluation, SelfPlay
from brdiv.games import Playable, Policies
from brdiv.metrics import best_response_diversity
from brdiv.teamwork import (
    GAMMA,
    LearnedPolicies,
    SeveralPolicies,
    all_pairs,
    beliefs_about,
    both_seats,
    cross_play,
    play_pairs,
)


class Strangers(NamedTuple):
    """Teammates to meet."""

    policies: Policies
    owners: list[Run | None]  # the run each one comes from, None if it is scripted


def evaluate(
    runs: Sequence[Run],
    strangers: Sequence[Run] | None,
    episodes: int,
    seed: int = 0,
    gamma: float = GAMMA,
    heuristics: bool = False,
    trained: Sequence[Prepared] = (),
) -> Evaluation:
    """Let the PLASTIC learner of every run play with every heuristic, or with every teammate of other runs.

    Each pair plays so many complete episodes. With ``heuristics`` both kinds of strangers are met. Learners that were
    ``trained`` meet the same ones.
    """
    if episodes < 1:
        raise UserError(f"episodes is {episodes}: each pair must play at least one")
    learners = [*map(plastic_of, runs), *trained]
    if not learners:
        raise UserError("nobody to evaluate: name runs, or trained learners")
    check_games(learners)
    game = learners[0].game
    if strangers is None:
        met = scripted(game)
    else:
        check_same_game([*runs[:1], *strangers])
        if not strangers[0].game.same_as(game):
            raise UserError(f"{learners[0].name} and {strangers[0].name} play different games: evaluate them apart")
        met = generated(strangers)
        if heuristics:
            also = scripted(game)
            met = Strangers(SeveralPolicies([also.policies, met.policies]), [*also.owners, *met.owners])
    generator = torch.Generator().manual_seed(seed)
    cells = meet(game, learners, met, episodes, generator, gamma)
    self_play = [measure_self_play(run, episodes, generator) for run in runs]
    return Evaluation(type(game).__name__, cells, self_play, gamma, bounds_of(game))


def heuristics_of(game: Playable) -> Policies:
    """Build the scripted teammates of a game, which must have some."""
    heuristics = game.heuristics()
    if heuristics is None:
        raise UserError(f"{type(game).__name__} has no heuristic teammates")
    return heuristics


def scripted(game: Playable) -> Strangers:
    """The game's heuristics as strangers."""
    heuristics = heuristics_of(game)
    return Strangers(heuristics, [None] * len(heuristics))


def generated(runs: Sequence[Run]) -> Strangers:
    """All teammates of some runs as strangers."""
    parts = [
        LearnedPolicies(run.population, names=[f"{run.name} #{k + 1}" for k in range(run.population.n_types)])
        for run in runs
    ]
    return Strangers(SeveralPolicies(parts), [run for run in runs for _ in range(run.population.n_types)])


def meet(
    game: Playable,
    learners: Sequence[Prepared],
    strangers: Strangers,
    episodes: int,
    generator: torch.Generator,
    gamma: float,
) -> list[Cell]:
    """Let every learner play with every stranger."""
    everyone = SeveralPolicies([learner.policies for learner in learners])
    pairs = all_pairs(strangers.policies, everyone)
    played = play_pairs(game, strangers.policies, everyone, pairs, episodes, generator, gamma)
    means = [value.float().mean(-1).tolist() for value in (played.returns, played.discounted, played.lengths)]
    cells = []
    for (t, r), mean_return, discounted, length in zip(pairs.tolist(), *means, strict=True):
        learner, owner, name = learners[r], strangers.owners[t], strangers.policies.names[t]
        seen = (name if owner is None else owner.sha256) in learner.known | learner.tuned_by
        task = name if owner is None else owner.method
        names = learner.name, learner.method, learner.seed, name, task
        cells.append(Cell(*names, seen, mean_return, discounted, length, episodes))
    return cells


def measure_self_play(run: Run, episodes: int, generator: torch.Generator) -> SelfPlay:
    """BRDiv, how long the run's own teams take, and how soon the learner knows them."""
    played = cross_play(run.game, *both_seats(run.population), episodes, generator)
    lengths = played.lengths.float().mean(-1).diagonal()
    brdiv = float(best_response_diversity(played.returns.mean(-1)))
    curve = recognition(run, episodes, generator)
    return SelfPlay(run.name, run.method, run.seed, brdiv, float(lengths.min()), float(lengths.max()), curve)


def recognition(run: Run, episodes: int, generator: torch.Generator) -> list[float]:
    """Share of episodes with its own teammates in which the learner believes most in the right one, after each step.

    An episode that has ended counts with the belief at its end. No more are played than can be at once.
    """
    n_types = run.population.n_types
    types = torch.arange(n_types).repeat_interleave(max(1, min(episodes, run.game.most_rows // n_types)))
    beliefs, played = beliefs_about(run.game, run.population, types, generator)
    right = (beliefs.argmax(-1) == types).float()
    steps = torch.minimum(torch.arange(len(right))[:, None], played.lengths - 1)
    return [float(share) for share in right.gather(0, steps).mean(-1)]
