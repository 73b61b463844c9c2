import itertools

import pytest
import torch

from brdiv.games import LBF
from brdiv.games.lbf.rules import legal_placements

STAY, NORTH, SOUTH, WEST, EAST, LOAD = range(6)
GONE = (-1, -1, 0)


def state_of(game, players, levels=(1, 1), foods=((1, 1), (1, 4), (4, 2)), food_level=None):
    """One row from (row, column) cells."""
    food_level = sum(levels) if food_level is None else food_level
    foods = [number for food in foods for number in ((*food, food_level) if len(food) == 2 else food)]
    first, second = ((*cell, level) for cell, level in zip(players, levels, strict=True))
    return game.from_view(torch.tensor([[[*foods, *first, *second], [*foods, *second, *first]]]))


def places(game, state):
    """Rows and columns of foods ``[B, F, 2]`` and players ``[B, 2, 2]``, as seat 0 sees them."""
    seen = game.view(state)[:, 0].unflatten(-1, (-1, 3))[..., :2]
    return seen[:, : game.foods], seen[:, game.foods :]


def step(players, actions, **kwargs):
    """Cells of both players after one step."""
    game = LBF()
    state, _, _ = game.step(state_of(game, players, **kwargs), torch.tensor([actions]))
    return [tuple(cell) for cell in places(game, state)[1][0].tolist()]


@pytest.mark.parametrize(
    ("action", "cell"),
    [(STAY, (3, 4)), (NORTH, (2, 4)), (SOUTH, (4, 4)), (WEST, (3, 3)), (EAST, (3, 5)), (LOAD, (3, 4))],
)
def test_each_action_moves_one_cell(action, cell):
    assert step([(3, 4), (0, 0)], (action, STAY)) == [cell, (0, 0)]
    assert step([(0, 0), (3, 4)], (STAY, action)) == [(0, 0), cell]


@pytest.mark.parametrize(("cell", "action"), [((0, 3), NORTH), ((5, 3), SOUTH), ((3, 0), WEST), ((3, 5), EAST)])
def test_the_border_stops_a_move(cell, action):
    assert step([cell, (2, 2)], (action, STAY))[0] == cell


def test_food_is_in_the_way_until_it_is_gone():
    assert step([(0, 1), (5, 5)], (SOUTH, STAY))[0] == (0, 1)
    assert step([(0, 1), (5, 5)], (SOUTH, STAY), foods=((1, 4), (4, 2), GONE))[0] == (1, 1)


def test_a_cell_that_both_claim_goes_to_neither():
    assert step([(2, 2), (2, 4)], (EAST, WEST)) == [(2, 2), (2, 4)]


def test_a_standing_player_is_not_pushed():
    assert step([(2, 2), (2, 3)], (EAST, STAY)) == [(2, 2), (2, 3)]
    assert step([(2, 2), (2, 3)], (EAST, LOAD)) == [(2, 2), (2, 3)]


def test_a_player_whose_own_move_fails_still_holds_its_cell():
    assert step([(0, 2), (0, 3)], (EAST, NORTH)) == [(0, 2), (0, 3)]


def test_a_cell_being_vacated_may_be_entered_and_players_may_swap():
    assert step([(2, 2), (2, 3)], (EAST, EAST)) == [(2, 3), (2, 4)]
    assert step([(2, 2), (2, 3)], (EAST, WEST)) == [(2, 3), (2, 2)]


def load(players, actions=(LOAD, LOAD), game=None, **kwargs):
    """The number of foods left, the reward, whether the task is done."""
    game = game or LBF()
    state, reward, terminated = game.step(state_of(game, players, **kwargs), torch.tensor([actions]))
    return int((state["levels"][:, :3] > 0).sum()), pytest.approx(reward.item()), terminated.item()


def test_two_beside_a_food_collect_it_together():
    assert load([(0, 1), (1, 0)]) == (2, 1 / 3, False)
    assert load([(2, 1), (1, 2)], levels=(2, 1)) == (2, 1 / 3, False)


def test_one_alone_is_too_weak():
    assert load([(0, 1), (5, 5)], levels=(2, 2)) == (3, 0, False)
    assert load([(0, 1), (1, 0)], actions=(LOAD, STAY)) == (3, 0, False)


def test_each_must_stand_beside_the_same_food():
    assert load([(0, 1), (0, 4)]) == (3, 0, False)


def test_a_diagonal_neighbour_is_not_beside():
    assert load([(0, 0), (1, 0)]) == (3, 0, False)


def test_loading_comes_after_moving():
    """Seat 0 arrives beside the food in this very step: it moved, so it didn't load."""
    assert load([(0, 2), (1, 0)], actions=(WEST, LOAD)) == (3, 0, False)


def test_a_strong_player_collects_weak_food_alone():
    assert load([(0, 1), (5, 5)], levels=(2, 1), food_level=2) == (2, 1 / 3, False)


def test_the_last_food_ends_the_task():
    assert load([(0, 1), (1, 0)], foods=((1, 1), GONE, GONE)) == (0, 1 / 3, True)


def test_the_view_lists_remaining_foods_first_then_the_player_itself():
    game = LBF()
    state, _, _ = game.step(state_of(game, [(0, 1), (1, 0)], levels=(2, 1)), torch.tensor([[LOAD, LOAD]]))
    foods = [1, 4, 3, 4, 2, 3, -1, -1, 0]
    assert game.view(state)[0].tolist() == [[*foods, 0, 1, 2, 1, 0, 1], [*foods, 1, 0, 1, 0, 1, 2]]


def too_close(first, second):
    rows, columns = abs(first[0] - second[0]), abs(first[1] - second[1])
    return max(rows, columns) <= 1 or (rows == 0 and columns <= 2) or (columns == 0 and rows <= 2)


def test_the_table_of_placements_is_every_legal_one():
    inner = list(itertools.product(range(1, 5), repeat=2))
    legal = {
        triple
        for triple in itertools.combinations(inner, 3)
        if not any(too_close(a, b) for a, b in itertools.combinations(triple, 2))
    }
    table = [tuple((cell // 6, cell % 6) for cell in row) for row in legal_placements(6, 3).tolist()]
    assert len(table) == len(set(table))
    assert set(table) == legal


@pytest.fixture(scope="module")
def starts():
    return LBF().initial(100_000, torch.Generator().manual_seed(0))


def test_every_start_is_legal(starts):
    foods, players = places(LBF(), starts)
    assert foods.min() == 1
    assert foods.max() == 4
    assert players.min() == 0
    assert players.max() == 5
    for a, b in itertools.combinations(range(3), 2):
        rows, columns = (foods[:, a] - foods[:, b]).abs().unbind(-1)
        assert (torch.maximum(rows, columns) > 1).all()
        assert ((rows > 0) | (columns > 2)).all()
        assert ((columns > 0) | (rows > 2)).all()
    assert not (players[:, 0] == players[:, 1]).all(-1).any()
    assert not (players[:, :, None] == foods[:, None]).all(-1).any()
    food_levels, levels = starts["levels"].split([3, 2], 1)
    assert set(levels.unique().tolist()) == {1, 2}
    assert torch.equal(food_levels, levels.sum(1, keepdim=True).expand(-1, 3))


def chi_square(index, cells):
    """Squared deviation from uniform, and the bound that 99.99 % of uniform draws stay below (Wilson-Hilferty)."""
    counts = torch.bincount(index, minlength=cells).double()
    assert len(counts) == cells
    expected = len(index) / cells
    freedom = cells - 1
    bound = freedom * (1 - 2 / (9 * freedom) + 3.72 * (2 / (9 * freedom)) ** 0.5) ** 3
    return ((counts - expected) ** 2 / expected).sum().item(), bound


def test_starts_are_uniform(starts):
    game = LBF()
    foods, players = (place @ torch.tensor([6, 1]) for place in places(game, starts))
    placement = (foods[:, None] == game.placements).all(-1).int().argmax(1)
    value, bound = chi_square(placement, len(game.placements))
    assert value < bound
    # Of the 33 x 32 ordered pairs of free cells, by rank among the free ones.
    first = players[:, 0] - (foods < players[:, :1]).sum(1)
    second = players[:, 1] - (torch.cat([foods, players[:, :1]], 1) < players[:, 1:]).sum(1)
    value, bound = chi_square(first * 32 + second, 33 * 32)
    assert value < bound
    value, bound = chi_square(starts["levels"][:, 3:] @ torch.tensor([2, 1]) - 3, 4)
    assert value < bound


@pytest.mark.parametrize("foods", [1, 2, 4])
def test_other_grids_are_a_matter_of_arguments(foods, generator):
    game = LBF(size=8, foods=foods, max_level=3, horizon=20)
    state = game.initial(200, generator)
    assert game.view(state).shape == (200, 2, 3 * foods + 6)
    assert state["levels"][:, foods:].max() == 3


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"foods": 9}, "9 foods don't fit on a grid of 6 x 6"),
        ({"size": 2}, "don't fit"),
        ({"foods": 0}, "foods is 0"),
        ({"max_level": 0}, "max_level is 0"),
        ({"horizon": -1}, "horizon is -1"),
        ({"size": 16, "foods": 5}, "placements"),
    ],
)
def test_layouts_that_can_not_be_played_are_refused(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        LBF(**arguments)


def test_players_never_share_a_cell_and_return_never_exceeds_one(generator):
    game = LBF()
    state = game.initial(2_000, generator)
    total = torch.zeros(2_000)
    for _ in range(50):
        state, reward, terminated = game.step(state, torch.randint(6, (2_000, 2), generator=generator))
        total += reward
        foods, players = places(game, state)
        assert not (players[:, 0] == players[:, 1]).all(-1).any()
        assert not (players[:, :, None] == foods[:, None]).all(-1).any()
        assert torch.equal(terminated, (state["levels"][:, :3] == 0).all(1))
    assert total.max() <= 1 + 1e-6
    assert total.max() > 0


def test_recorded_play_is_replayed_in_every_step(recorded):
    trace = recorded("transitions_lbf")
    n_foods = (trace["obs0"][:, 0, 2:9:3] > 0).sum(1)
    compared = 0
    for foods in n_foods.unique().tolist():
        game = LBF(foods=foods)
        episodes = n_foods == foods
        # Where fewer foods were placed, the record has empty slots between the foods and the players.
        keep = [*range(3 * foods), *range(9, 15)]
        length = trace["len"][episodes]
        state = game.from_view(trace["obs0"][episodes][..., keep].long())
        for t in range(int(length.max())):
            state, reward, terminated = game.step(state, trace["act"][episodes, t].long())
            live = t < length
            assert torch.equal(game.view(state)[live], trace["obs"][episodes, t][..., keep].long()[live])
            assert torch.allclose(reward[live], trace["rew"][episodes, t][live], atol=1e-6)
            over = terminated | torch.tensor(t + 1 >= game.horizon)
            assert torch.equal(over[live], trace["done"][episodes, t][live])
            compared += int(live.sum())
    assert compared == int(trace["len"].sum()) > 5000
