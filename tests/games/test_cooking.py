import pytest
import torch

from brdiv.games import Cooking

STAY, ANTICLOCKWISE, CLOCKWISE, PUT_ON_COUNTER, PUT_ON_TABLE, TAKE_FROM_TABLE, TAKE_FROM_COUNTER, USE = range(8)
TOMATO, CHOPPED, CARROT, BLENDED, PLATE = range(5)
TABLE, FIRST, SECOND, NOWHERE = 10, 11, 12, -1
START = {TOMATO: 1, CHOPPED: NOWHERE, CARROT: 6, BLENDED: NOWHERE, PLATE: TABLE}


def kitchen(cells, items=(), assembled=False):
    """One row: the chefs' cells, and items that are not where they start."""
    places = {**START, **dict(items)}
    return Cooking().pack(
        torch.tensor([cells]), torch.tensor([[places[item] for item in range(5)]]), torch.tensor([assembled])
    )


def step(state, *actions):
    """Cells, items, reward, done after the two seats' actions."""
    state, reward, terminated = Cooking().step(state, torch.tensor([actions]))
    return state["cells"][0].tolist(), state["items"][0].tolist(), reward.item(), terminated.item()


def items_after(state, *actions):
    return step(state, *actions)[1]


def test_clockwise_is_plus_one_around_the_ring():
    assert step(kitchen([9, 4]), CLOCKWISE, ANTICLOCKWISE)[0] == [0, 3]
    assert step(kitchen([0, 4]), ANTICLOCKWISE, CLOCKWISE)[0] == [9, 5]


def test_a_cell_occupied_at_the_start_is_not_entered_even_if_it_is_left():
    assert step(kitchen([3, 4]), CLOCKWISE, STAY)[0] == [3, 4]
    assert step(kitchen([3, 4]), CLOCKWISE, CLOCKWISE)[0] == [3, 5]
    assert step(kitchen([3, 4]), ANTICLOCKWISE, ANTICLOCKWISE)[0] == [2, 4]
    assert step(kitchen([3, 4]), CLOCKWISE, ANTICLOCKWISE)[0] == [3, 4]


def test_a_free_cell_that_both_enter_goes_to_seat_0():
    assert step(kitchen([3, 5]), CLOCKWISE, ANTICLOCKWISE)[0] == [4, 5]


def test_taking_and_putting_moves_everything_there():
    both = {TOMATO: 3, CARROT: 3}
    assert items_after(kitchen([3, 7], both), TAKE_FROM_COUNTER, STAY) == [FIRST, -1, FIRST, -1, TABLE]
    held = {TOMATO: SECOND, CARROT: SECOND}
    assert items_after(kitchen([3, 7], held), STAY, PUT_ON_COUNTER) == [7, -1, 7, -1, TABLE]
    assert items_after(kitchen([3, 7], held), STAY, PUT_ON_TABLE) == [10, -1, 10, -1, 10]


def test_full_hands_can_take_more():
    assert items_after(kitchen([1, 5], {CARROT: FIRST}), TAKE_FROM_COUNTER, STAY) == [FIRST, -1, FIRST, -1, TABLE]


def test_only_the_counter_in_front_is_reached_but_the_table_from_everywhere():
    assert items_after(kitchen([2, 5]), TAKE_FROM_COUNTER, STAY) == list(START.values())
    for cell in range(5):
        assert items_after(kitchen([cell, 9]), TAKE_FROM_TABLE, STAY)[PLATE] == FIRST


def test_when_both_take_seat_0_gets_it_all():
    assert items_after(kitchen([2, 7]), TAKE_FROM_TABLE, TAKE_FROM_TABLE)[PLATE] == FIRST


def test_putting_on_a_table_that_was_not_empty_hands_over_at_once():
    state = kitchen([2, 7], {TOMATO: FIRST})
    assert items_after(state, PUT_ON_TABLE, TAKE_FROM_TABLE) == [SECOND, -1, 6, -1, SECOND]


def test_taking_from_a_table_that_was_empty_takes_nothing_though_something_was_put_there_just_before():
    state = kitchen([2, 7], {TOMATO: FIRST, PLATE: 3})
    assert items_after(state, PUT_ON_TABLE, TAKE_FROM_TABLE) == [TABLE, -1, 6, -1, 3]


def test_what_seat_1_puts_is_not_taken_by_seat_0_in_the_same_step():
    state = kitchen([2, 7], {TOMATO: SECOND})
    assert items_after(state, TAKE_FROM_TABLE, PUT_ON_TABLE) == [TABLE, -1, 6, -1, FIRST]


@pytest.mark.parametrize("seat", [0, 1])
def test_the_knife_chops_the_tomato_and_the_blender_blends_the_carrot(seat):
    def use(cell, items):
        cells, actions = [2, 2], [STAY, STAY]
        cells[seat], actions[seat] = cell, USE
        cells[1 - seat] = 3
        return step(kitchen(cells, items), *actions)[1:]

    assert use(5, {TOMATO: 5}) == ([-1, 5, 6, -1, TABLE], 0.25, False)
    assert use(0, {CARROT: 0}) == ([1, -1, -1, 0, TABLE], 0.25, False)
    assert use(5, {CARROT: 5}) == ([1, -1, 5, -1, TABLE], 0.0, False)
    assert use(0, {TOMATO: 0}) == ([0, -1, 6, -1, TABLE], 0.0, False)
    assert use(4, {TOMATO: 5}) == ([5, -1, 6, -1, TABLE], 0.0, False)


COOKED = {TOMATO: NOWHERE, CARROT: NOWHERE, CHOPPED: TABLE, BLENDED: FIRST, PLATE: TABLE}


def test_assembling_pays_once():
    assert step(kitchen([2, 7], COOKED), PUT_ON_TABLE, STAY)[2:] == (0.25, False)
    assert step(kitchen([2, 7], COOKED, assembled=True), PUT_ON_TABLE, STAY)[2:] == (0.0, False)


def test_a_hand_is_a_place_to_assemble():
    assert step(kitchen([2, 7], COOKED), TAKE_FROM_TABLE, STAY)[2:] == (0.25, False)


def test_serving_pays_and_ends_the_task():
    dish = {**COOKED, CHOPPED: FIRST, PLATE: FIRST}
    assert step(kitchen([8, 2], dish, assembled=True), PUT_ON_COUNTER, STAY)[2:] == (0.25, True)
    assert step(kitchen([7, 2], dish, assembled=True), PUT_ON_COUNTER, STAY)[2:] == (0.0, False)


def test_the_last_ingredient_on_the_serving_counter_assembles_and_serves():
    dish = {**COOKED, CHOPPED: 8, PLATE: 8}
    assert step(kitchen([8, 2], dish), PUT_ON_COUNTER, STAY)[2:] == (0.5, True)


def test_an_empty_plate_on_the_serving_counter_is_not_a_dish():
    assert step(kitchen([8, 2], {PLATE: FIRST}), PUT_ON_COUNTER, STAY)[2:] == (0.0, False)


def test_the_view_is_each_chefs_own():
    view = Cooking().view(kitchen([2, 7], {TOMATO: SECOND}))[0].tolist()
    places = [-1, -1, 6, -1, 10, 0, 5, 8]
    nothing, tomato = [-1] * 5, [1, -1, -1, -1, -1]
    assert view == [[2, *nothing, 7, *tomato, *places], [7, *tomato, 2, *nothing, *places]]


def test_only_the_start_cells_are_random(generator):
    state = Cooking().initial(90_000, generator)
    first, second = state["cells"].unbind(1)
    assert (first != second).all()
    counts = torch.bincount(first * 10 + second, minlength=100).view(10, 10)
    assert counts.diagonal().sum() == 0
    off = counts[~torch.eye(10, dtype=torch.bool)]
    assert ((off - 1000) ** 2 / 1000).sum() < 147  # 89 degrees of freedom: 99.99 % of uniform draws stay below
    assert (state["items"] == torch.tensor([1, -1, 6, -1, 10])).all()
    assert not state["assembled"].any()


def test_nothing_is_created_or_lost_and_chefs_never_share_a_cell(generator):
    game = Cooking()
    rows = 3_000
    state = game.initial(rows, generator)
    total = torch.zeros(rows)
    # Chefs who often use tools get further into the recipe than uniformly random ones.
    weights = torch.tensor([0.2, 1, 1, 1, 1, 1, 2, 2])
    for _ in range(300):
        action = torch.multinomial(weights.expand(rows * 2, 8), 1, generator=generator).view(rows, 2)
        state, reward, _ = game.step(state, action)
        total += reward
        tomato, chopped, carrot, blended, plate = state["items"].unbind(1)
        assert ((tomato == NOWHERE) ^ (chopped == NOWHERE)).all()
        assert ((carrot == NOWHERE) ^ (blended == NOWHERE)).all()
        assert (plate != NOWHERE).all()
        assert (state["cells"][:, 0] != state["cells"][:, 1]).all()
    assert (total >= 0.5).any()


def test_return_never_exceeds_one_in_an_episode(generator):
    """A cook who knows the recipe, so that dishes are really served."""
    game = Cooking()
    state = kitchen([1, 3])
    walk = [CLOCKWISE] * 4
    recipe = [TAKE_FROM_COUNTER, *walk, PUT_ON_COUNTER, USE, TAKE_FROM_COUNTER, PUT_ON_TABLE]
    recipe += [CLOCKWISE, TAKE_FROM_COUNTER, *walk, PUT_ON_COUNTER, USE, TAKE_FROM_COUNTER, TAKE_FROM_TABLE]
    recipe += [ANTICLOCKWISE, ANTICLOCKWISE, PUT_ON_COUNTER]
    rewards, done = [], []
    for t, action in enumerate(recipe):
        # The other chef keeps ahead of the cook.
        other = CLOCKWISE if action == CLOCKWISE and t else (ANTICLOCKWISE if action == ANTICLOCKWISE else STAY)
        state, reward, terminated = game.step(state, torch.tensor([[action, other]]))
        rewards.append(reward.item())
        done.append(terminated.item())
    assert sum(rewards) == pytest.approx(1.0)
    assert done == [False] * (len(recipe) - 1) + [True]


def test_recorded_play_is_replayed_in_every_step(recorded):
    trace = recorded("transitions_simple_cooking")
    game = Cooking()
    state = game.from_view(trace["obs0"].long())
    compared = 0
    for t in range(game.horizon):
        state, reward, terminated = game.step(state, trace["act"][:, t].long())
        live = t < trace["len"]
        assert torch.equal(game.view(state)[live], trace["obs"][:, t].long()[live])
        assert torch.equal(reward[live], trace["rew"][:, t][live])
        over = terminated | torch.tensor(t + 1 >= game.horizon)
        assert torch.equal(over[live], trace["done"][:, t][live])
        compared += int(live.sum())
    assert compared == int(trace["len"].sum()) > 10_000


def test_a_horizon_without_steps_is_refused():
    with pytest.raises(ValueError, match="horizon is 0"):
        Cooking(horizon=0)
