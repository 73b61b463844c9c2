import torch

from brdiv.games import Reaching
from brdiv.nets import Population
from brdiv.objectives.pair_returns import PairReturns
from brdiv.rollouts import Pairing, collect
from brdiv.teamwork import both_seats, cross_play


def test_the_estimate_is_what_the_pairs_earn_by_play():
    torch.manual_seed(1)
    game, population = Reaching(), Population(3, 50, 5, [16], gain=2.0)
    pairing = Pairing(3, self_play_rows=100, cross_play_rows=200)
    estimate = PairReturns(3, memory=10_000.0)
    windows = iter(collect(game, pairing, population, 8, torch.device("cpu"), seed=[0]))
    for _ in range(100):
        estimate.observe(next(windows))
    played = cross_play(game, *both_seats(population), 1000, torch.Generator().manual_seed(0)).returns.mean(-1)
    assert played.max() > 0.1
    assert torch.allclose(estimate.matrix(), played, atol=0.07)


def test_a_pair_that_ended_no_episode_counts_as_nothing():
    assert (PairReturns(3, 10.0).matrix() == 0).all()
