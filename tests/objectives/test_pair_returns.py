import torch

from brdiv.games import Reaching
from brdiv.nets import Population
from brdiv.objectives.pair_returns import PairReturns
from brdiv.rollouts import Pairing, collect
from brdiv.teamwork import both_seats, cross_play


def windows(game, population, pairing):
    return iter(collect(game, pairing, population, 8, torch.device("cpu"), seed=[0]))


def test_the_estimate_is_what_the_pairs_earn_by_play():
    torch.manual_seed(1)
    game, population = Reaching(), Population(3, 50, 5, [16], gain=2.0)
    estimate = PairReturns(3, memory=10_000.0)
    seen = windows(game, population, Pairing(3, self_play_rows=100, cross_play_rows=200))
    for _ in range(100):
        estimate.observe(next(seen))
    played = cross_play(game, *both_seats(population), 1000, torch.Generator().manual_seed(0)).returns.mean(-1)
    assert played.max() > 0.1
    assert torch.allclose(estimate.matrix(), played, atol=0.07)


def test_episodes_in_which_somebody_may_take_over_are_no_pairs():
    torch.manual_seed(1)
    population = Population(3, 50, 5, [16], gain=2.0)
    seen = windows(Reaching(), population, Pairing(3, 10, 20, mixed_play_rows=30, takeover=0.5))
    all_rows, whole_episodes = PairReturns(3, 100.0), PairReturns(3, 100.0)
    for _ in range(20):
        window = next(seen)
        all_rows.observe(window)
        whole_episodes.observe(window[:30].exclude("mixed"))
    assert all_rows.matrix().max() > 0.1
    assert torch.equal(all_rows.matrix(), whole_episodes.matrix())


def test_a_pair_that_ended_no_episode_counts_as_nothing():
    assert (PairReturns(3, 10.0).matrix() == 0).all()
