"""What the machine itself allows: an update's arithmetic at the highest rate at which it multiplies matrices."""

import itertools
from functools import partial

import torch

from brdiv.benchmarks.timing import timed
from brdiv.training import RolloutData, TeammateGenerator
from brdiv.training.products import EXACT, available, error_of, multiplied

SIZES = (256, 512, 1024)  # of square matrices; one of them suits the caches


def operations_per_update(module: TeammateGenerator, data: RolloutData) -> int:
    """Count multiplications and additions in the products of one update; nothing else is counted.

    Forward once to play and once to learn; backward twice, for weights and for inputs, but for the first layer, whose
    inputs need no gradient. Two critics value the window's ends.
    """
    population, steps, ends = module.population, data.steps_per_update, data.pairing.rows
    actor = products([population.observation_size, *population.hidden, population.n_actions])
    critic = products(module.critic.sizes)
    learn_actors = 3 * sum(actor) - actor[0]
    learn_critic = 3 * sum(critic) - critic[0]
    return 2 * steps * (sum(actor) + learn_actors) + steps * learn_critic + 2 * ends * sum(critic)


def products(sizes: list[int]) -> list[int]:
    """Operations of each layer of an MLP on one sample."""
    return [2 * n_in * n_out for n_in, n_out in itertools.pairwise(sizes)]


def highest_rate(repeats: int = 10) -> float:
    """Operations per second of the fastest float32 product that is exact, on as many threads as torch has."""
    generator = torch.Generator().manual_seed(0)
    a = {size: torch.randn(1, size, size, generator=generator) for size in SIZES}
    errors, rates = {}, {}
    for way in available():
        with multiplied(way):
            errors[way] = error_of(a[SIZES[0]], a[SIZES[0]])
            rates[way] = max(2 * n**3 / min(timed(partial(torch.bmm, x, x), repeats)) for n, x in a.items())
    return max(rate for way, rate in rates.items() if errors[way] <= EXACT * errors["blas"])
