"""What a PLASTIC learner thinks of teammates that it knows, step by step."""

import torch
from torch import Tensor

from brdiv.envs import Task
from brdiv.match import Match
from brdiv.nets import Population
from brdiv.plastic import Plastic
from brdiv.play import Episodes, play
from brdiv.teammates import LearnedPolicies


def beliefs_in(
    task: Task, population: Population, types: Tensor, generator: torch.Generator
) -> tuple[Tensor, Episodes]:
    """Let the learner play an episode with each of its own teammates ``types [R]``.

    Gives its belief ``[T, R, K]`` after each step, of which those beyond an episode's length mean nothing, and the
    episodes ``[R]``.
    """
    pairs = torch.stack([types, torch.zeros_like(types)], -1)
    match = Match(LearnedPolicies(population), Plastic(population), pairs, generator)
    beliefs: list[Tensor] = []

    def act(view: Tensor | None, observation: Tensor) -> Tensor:
        action = match(view, observation)
        assert match.memory is not None
        beliefs.append(match.memory[1]["belief"])  # type: ignore[index]
        return action

    played = play(task, act, len(types), generator)
    return torch.stack(beliefs), played
