"""What a learner earns with each of some teammates."""

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
    everyone = SeveralPolicies(kinds)
    learner = TrainedLearner(net)
    return play_pairs(
        teammates.game, everyone, learner, torch.tensor(pairs, device=generator.device), episodes, generator
    )


def returns_with_each(
    net: RecurrentActorCritic, teammates: Teammates, episodes: int, generator: torch.Generator
) -> dict[str, float]:
    """Mean return with each teammate, by name; one that is named twice counts once."""
    played = play_with_each(net, teammates, episodes, generator)
    return dict(zip(teammates.names, played.returns.mean(-1).tolist(), strict=True))
