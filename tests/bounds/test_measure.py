import pytest
import torch

from brdiv.bounds import Settings, find_bounds
from brdiv.bounds.responses import GroupDraw, PolicyStack, StackedPolicies, Table
from brdiv.bounds.training import Task, train_responses
from brdiv.errors import UserError
from brdiv.games import RESPONSE, TEAMMATE, SeatView
from brdiv.nets import Population
from tests.bounds.hand_made import BOTH_BUT_ONE, SAME, OneMove, teams

QUICK = Settings(steps=1600, rows=16, window=1, learning_rate=0.02, entropy_weight=0.05)


def test_teams_that_go_the_same_way_need_one_response_and_one_that_goes_another_way_its_own():
    game = OneMove(SAME)
    found = find_bounds(teams(game, [0, 0, 1], [0, 0, 1]), game, QUICK, episodes=64)
    assert found.own == (1.0, 1.0, 1.0)
    assert found.groups == [[0, 1], [2]]
    assert (found.needed, found.enough) == (2, 2)
    matrix = found.matrix()
    assert matrix.equal(matrix.T)
    assert (matrix.diagonal() > 0.95).all()
    assert matrix[0, 1] > 0.95
    assert matrix[0, 2] <= 0.6  # seeing neither, it can be right with one of the two, or half of the time with both
    assert not found.too_short


def test_a_response_that_sees_where_its_teammate_goes_serves_both_ways():
    """Best responses that don't look earn nothing with the other's teammate, so the cross-play matrix differs."""
    game = OneMove(SAME, horizon=3)
    found = find_bounds(teams(game, [0, 1], [0, 1]), game, QUICK._replace(steps=4800, window=3), episodes=64)
    assert found.groups == [[0, 1]]


def test_a_response_that_has_to_look_first_serves_less_where_time_counts():
    game = OneMove(SAME, horizon=3)
    population = teams(game, [0, 1], [0, 1])
    hurried = QUICK._replace(steps=4800, window=3, gamma=0.5)
    found = find_bounds(population, game, hurried, episodes=64, gamma=0.5)
    assert found.own == (1.0, 1.0)
    assert found.groups == [[0], [1]]
    assert found.served[2].share < 0.9  # 0.75 with both at best, by a coin that is thrown first
    assert not found.too_short


def test_serving_any_two_of_three_is_not_taken_for_serving_all():
    game = OneMove(BOTH_BUT_ONE)
    found = find_bounds(teams(game, [0, 1, 2], [0, 0, 1]), game, QUICK, episodes=64)
    assert found.groups == [[0, 1, 2]]
    (whole,) = found.whole
    assert whole.group == (0, 1, 2)
    assert whole.share < 0.95
    assert (found.needed, found.enough) == (1, 2)


def test_a_whole_group_that_one_response_serves_is_seen_to_be_served():
    game = OneMove(SAME)
    found = find_bounds(teams(game, [1, 1, 1], [1, 1, 1]), game, QUICK, episodes=64)
    (whole,) = found.whole
    assert whole.share > 0.95
    assert (found.needed, found.enough) == (1, 1)


def test_training_that_is_too_short_for_single_teams_is_noticed():
    game = OneMove(SAME)
    found = find_bounds(teams(game, [0, 1], [0, 1]), game, QUICK._replace(steps=16), episodes=64)
    assert found.too_short == [0, 1]
    assert found.steps == 16


def test_a_team_that_has_not_learned_the_game_is_left_out():
    """Team 2 goes where its own best response does not, though others could play with it."""
    game = OneMove(SAME)
    found = find_bounds(teams(game, [0, 0, 0], [0, 1, 0]), game, QUICK, episodes=64)
    assert found.own == (1.0, 0.0, 1.0)
    assert found.able == [0, 2]
    assert found.groups == [[0, 2]]
    assert found.matrix()[1].isnan().all()
    assert found.matrix()[0, 2] > 0.95
    assert found.served[1].returns[0] > 0.95
    assert not any(1 in served.group for served in found.served[3:])


def test_where_nobody_earns_anything_there_is_nothing_to_compare_with():
    game = OneMove(SAME)
    with pytest.raises(UserError, match="no team earns anything"):
        find_bounds(teams(game, [0, 1], [1, 0]), game, QUICK, episodes=4)


def test_the_same_seed_gives_the_same_figures_bit_for_bit_and_another_one_others():
    game = OneMove(SAME)
    population = teams(game, [0, 1], [0, 1])
    first, again, other = (
        train_responses(Task(population, game, [(0,), (0, 1)], QUICK._replace(steps=80), seed)).state_dict()
        for seed in (3, 3, 4)
    )
    assert all(first[name].equal(again[name]) for name in first)
    assert not any(first[name].equal(other[name]) for name in first)


def test_teammates_stay_as_they_are_and_torchs_own_randomness_too():
    game = OneMove(SAME)
    population = teams(game, [0, 1], [0, 1])
    before = {name: weight.clone() for name, weight in population.state_dict().items()}
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    train_responses(Task(population, game, [(0, 1)], QUICK._replace(steps=80)))
    assert torch.rand(3).equal(expected)
    assert all(before[name].equal(weight) for name, weight in population.state_dict().items())


def test_every_row_keeps_its_response_and_meets_each_of_its_teammates_as_often(generator):
    draw = GroupDraw([(2,), (0, 3), (1, 2, 3)], rows_each=4)
    ids = draw.draw(generator, times=3000)
    assert ids.shape == (3000, 12, 2)
    assert (ids[..., 1] == torch.arange(3).repeat_interleave(4)).all()
    for response, group in enumerate([(2,), (0, 3), (1, 2, 3)]):
        met = torch.bincount(ids[ids[..., 1] == response][:, 0], minlength=4) / (3000 * 4)
        expected = torch.tensor([1 / len(group) if team in group else 0.0 for team in range(4)])
        assert torch.allclose(met, expected, atol=0.02)


def test_a_seat_taken_out_of_a_population_acts_as_it_did_there(generator):
    population = Population(3, 6, 4, [8, 8], gain=1.0)
    observation = torch.rand(32, 2, 6, generator=generator)
    ids = torch.randint(3, (32, 2), generator=generator)
    stacks = [PolicyStack.seat_of(population, seat) for seat in (TEAMMATE, RESPONSE)]
    logits = torch.stack([stack(observation[:, seat], ids[:, seat]) for seat, stack in enumerate(stacks)], 1)
    assert torch.allclose(logits, population(observation, ids), atol=1e-6)
    seeds = [torch.Generator().manual_seed(1) for _ in range(2)]
    assert Table(*stacks).act(observation, ids, seeds[0]).equal(population.act(observation, ids, seeds[1]))


def test_stacked_policies_play_the_one_they_are_asked_for(generator):
    game = OneMove(SAME)
    responses = StackedPolicies(PolicyStack.seat_of(teams(game, [0, 0], [1, 0]), RESPONSE))
    seen = SeatView(None, torch.zeros(3, game.observation_size))
    assert responses.act(torch.tensor([0, 1, 0]), seen, None, generator).tolist() == [1, 0, 1]


def test_larger_groups_get_rows_for_every_team_and_the_same_number_of_updates():
    longer = QUICK.for_groups_of(6)
    assert longer.rows == 3 * QUICK.rows
    assert longer.updates == QUICK.updates
