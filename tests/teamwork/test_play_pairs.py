"""Any policies with any others, in one batch."""

import itertools

import pytest
import torch

from brdiv.games import LBF, RESPONSE, Cooking, Policies, Reaching
from brdiv.nets import Population
from brdiv.teamwork import LearnedPolicies, Plastic, SeveralPolicies, all_pairs, play_pairs
from brdiv.teamwork.play import Seats

GAMES = [Reaching(), LBF(), Cooking(horizon=60)]


class Always(Policies):
    """Policy k always does action k."""

    names = ("zero", "one", "two")

    def act(self, which, seen, memory, generator):
        return which.clone()


class Notes(Policies):
    """Writes down what it was told of the other seat."""

    names = ("notes",)

    def begin(self, which, seen, generator):
        return []

    def act(self, which, seen, memory, generator):
        return torch.zeros_like(which)

    def watch(self, which, other, action, memory):
        memory.append((other, action))


@pytest.mark.parametrize("game", GAMES, ids=[type(game).__name__ for game in GAMES])
def test_anything_plays_with_anything(game, generator):
    torch.manual_seed(0)
    population = Population(3, game.observation_size, game.n_actions, [8])
    heuristics = game.heuristics()
    first = SeveralPolicies([heuristics, LearnedPolicies(population), Plastic(population)])
    second = SeveralPolicies([LearnedPolicies(population, RESPONSE), Plastic(population), heuristics])
    pairs = all_pairs(first, second)
    assert len(pairs) == len(first) * len(second) == (len(heuristics) + 4) ** 2
    played = play_pairs(game, first, second, pairs, 3, generator)
    assert played.returns.shape == (len(pairs), 3)
    assert (played.lengths >= 1).all()
    assert (played.lengths <= game.horizon).all()
    assert (played.returns <= 1 + 1e-6).all()
    assert played.returns.sum() > 0


def test_each_row_is_played_by_the_pair_it_names(generator):
    """Policy k does action k: in Cooperative Reaching two that go left and up never meet, and neither do others."""
    game = Reaching(goals=[(0, 1)], payoffs=[1.0])
    pairs = all_pairs(Always(), Always())
    view = game.view(game.initial(len(pairs), generator))
    assert torch.equal(Seats(Always(), Always(), pairs, generator).act(view, game.encode(view)), pairs)


def test_everyone_learns_what_the_other_did_and_saw(generator):
    game = Reaching()
    pairs = torch.tensor([[2, 0]]).repeat(5, 1)
    seats = Seats(Always(), Notes(), pairs, generator)
    view = game.view(game.initial(5, generator))
    seats.act(view, game.encode(view))
    ((other, action),) = seats.memory[1]
    assert (action == 2).all()
    assert torch.equal(other.view, view[:, 0])


def literal_returns(game, population, i, j, episodes, generator):
    """Play the pair (i, j) by the rules and nothing else, one step after the other."""
    state, returns = game.initial(episodes, generator), torch.zeros(episodes)
    running, ids = torch.ones(episodes, dtype=torch.bool), torch.tensor([i, j]).expand(episodes, 2)
    for _ in range(game.horizon):
        state, reward, won = game.step(state, population.act(game.observe(state), ids, generator))
        returns += reward * running
        running &= ~won
    return returns


def test_learned_pairs_earn_what_cross_play_measures(generator):
    torch.manual_seed(3)
    game = Reaching()
    population = Population(3, 50, 5, [16], gain=2.0)
    expected = torch.zeros(3, 3)
    for i, j in itertools.product(range(3), repeat=2):
        expected[i, j] = literal_returns(game, population, i, j, 2000, generator).mean()
    teammates, responses = LearnedPolicies(population), LearnedPolicies(population, RESPONSE)
    played = play_pairs(game, teammates, responses, all_pairs(teammates, responses), 2000, generator)
    assert torch.allclose(played.returns.mean(-1).view(3, 3), expected, atol=0.05)
    assert expected.max() > 0.1


def test_discounted_return_is_worth_less_the_later_it_comes(generator):
    game = Reaching()
    heuristics = game.heuristics()
    one = heuristics.names.index("H3")
    follow = heuristics.names.index("H10")
    played = play_pairs(game, heuristics, heuristics, torch.tensor([[one, follow]]), 200, generator, gamma=0.9)
    assert (played.returns == 1).all()
    assert torch.allclose(played.discounted, 0.9 ** (played.lengths - 1.0))


def test_no_episodes_of_pairs_are_refused(generator):
    with pytest.raises(ValueError, match="episodes is 0"):
        play_pairs(Reaching(), Always(), Always(), torch.tensor([[0, 0]]), 0, generator)
