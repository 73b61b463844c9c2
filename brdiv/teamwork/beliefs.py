"""What a PLASTIC learner thinks of teammates that it knows, step by step."""

import torch
from torch import Tensor

from brdiv.games import Playable
from brdiv.nets import Population
from brdiv.teamwork.plastic import Plastic
from brdiv.teamwork.play import Episodes, Turn, play
from brdiv.teamwork.policies import LearnedPolicies


def beliefs_about(
    game: Playable, population: Population, types: Tensor, generator: torch.Generator
) -> tuple[Tensor, Episodes]:
    """Let the learner play an episode with each of its own teammates ``types [R]``.

    Returns its belief ``[T, R, K]`` after each step, of which those beyond an episode's length mean nothing, and the
    episodes ``[R]``.
    """
    beliefs: list[Tensor] = []

    def watch(turn: Turn) -> None:
        if turn.step:
            beliefs.append(turn.memory[1]["belief"])

    pairs = torch.stack([types, torch.zeros_like(types)], -1)
    played = play(game, LearnedPolicies(population), Plastic(population), pairs, generator, watch=[watch])
    return torch.stack(beliefs), played
