"""What a learner earns with each of some teammates."""

from collections.abc import Sequence
from pathlib import Path

import torch

from brdiv.doors.teammates import Teammates
from brdiv.recurrent import RecurrentActorCritic
from brdiv.teamwork import Episodes, SeveralPolicies, TrainedLearner, play_pairs


def play_with_each(
    net: RecurrentActorCritic, teammates: Teammates, episodes: int, generator: torch.Generator
) -> Episodes:
    """Play so many complete episodes with each of N teammates: Episodes ``[N, episodes]``."""
    kinds = list({id(policies): policies for policies, _ in teammates.candidates}.values())
    first = {id(kind): sum(map(len, kinds[:place])) for place, kind in enumerate(kinds)}
    pairs = [[first[id(policies)] + number, 0] for policies, number in teammates.candidates]
    everyone = kinds[0] if len(kinds) == 1 else SeveralPolicies(kinds)
    learner = TrainedLearner(net)
    return play_pairs(
        teammates.game, everyone, learner, torch.tensor(pairs, device=generator.device), episodes, generator
    )


def returns_with_each(
    net: RecurrentActorCritic, teammates: Teammates, episodes: int, generator: torch.Generator
) -> dict[str, float]:
    """Mean return with each teammate, by a short name; one that is named twice counts once."""
    played = play_with_each(net, teammates, episodes, generator)
    return dict(zip(short_names(teammates.names), played.returns.mean(-1).tolist(), strict=True))


def short_names(names: Sequence[str]) -> list[str]:
    """Leave the folders out of names of files, where those are still told apart.

    >>> short_names(["runs/lbf-brdiv-seed0/population.safetensors:1", "H3"])
    ['lbf-brdiv-seed0:1', 'H3']
    >>> short_names(["a/run:1", "b/run:1"])
    ['a/run:1', 'b/run:1']
    """
    short = [short_name(name) for name in names]
    return short if len(set(short)) == len(set(names)) else list(names)


def short_name(name: str) -> str:
    """Name a teammate after the file of its population, or the run's folder."""
    file, colon, number = name.rpartition(":")
    path = Path(file)
    return f"{path.parent.name if path.stem == 'population' else path.name}:{number}" if colon else name
