"""Small population files for tests."""

import torch

from brdiv.games import shipped_games
from brdiv.nets import Population
from brdiv.runs import save_population


def small_population(game, n_types=3, gain=3.0):
    """Random policies with habits of their own."""
    with torch.random.fork_rng():
        torch.manual_seed(7)
        population = Population(n_types, game.observation_size, game.n_actions, [16], gain)
        for layer in population.layers:
            torch.nn.init.normal_(layer.bias, std=0.3)
        return population


def small_file(folder, name="Reaching", n_types=3, **settings):
    """A population file for one of the shipped games."""
    game = shipped_games()[name](**settings)
    return str(save_population(folder / f"{name}.safetensors", small_population(game, n_types), game))
