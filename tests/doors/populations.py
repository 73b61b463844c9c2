"""Small population files for tests."""

import torch

from brdiv.games import shipped_games
from brdiv.nets import Population
from brdiv.runs import save_population


def small_population(game, n_types=3, gain=3.0):
    """Random policies with habits of their own."""
    with torch.random.fork_rng():
        torch.manual_seed(7)
        return Population(n_types, game.observation_size, game.n_actions, [16], gain)


def small_file(folder, name="Reaching", n_types=3, **settings):
    """A population file for one of the shipped games."""
    game = shipped_games()[name](**settings)
    return str(save_population(folder / f"{name}.safetensors", small_population(game, n_types), game))
