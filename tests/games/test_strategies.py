"""What counts as a strategy on foraging and cooking; that of Reaching is tested beside its rules."""

import torch

from brdiv.games import LBF, Cooking
from tests.games.test_cooking import (
    ANTICLOCKWISE,
    BLENDED,
    CARROT,
    CHOPPED,
    CLOCKWISE,
    NOWHERE,
    PLATE,
    PUT_ON_COUNTER,
    PUT_ON_TABLE,
    SECOND,
    STAY,
    TAKE_FROM_COUNTER,
    TAKE_FROM_TABLE,
    TOMATO,
    USE,
    kitchen,
)  # fmt: skip

FOODS = [[1, 1, 2], [1, 4, 2], [4, 2, 2]]
GONE = [-1, -1, 0]


def foraged(*lists, game=None):
    """What is told of one episode, given which of the foods are left after each step."""
    watcher = (game or LBF()).strategies()
    for left in [(0, 1, 2), *lists]:
        entries = [FOODS[food] for food in left] + [GONE] * (3 - len(left)) + [[0, 0, 1], [5, 5, 1]]
        watcher.watch(torch.tensor([entries, entries]).flatten(1)[None], torch.tensor([True]))
    (found,) = watcher.found().tolist()
    return watcher.names[found] if found >= 0 else None


def test_foods_keep_the_number_that_they_have_in_the_first_list():
    assert foraged((0, 2), (0,), ()) == "2-3-1"
    assert foraged((0, 2), (2,), (2,), ()) == "2-1-3"
    assert foraged((1, 2), (2,), ()) == "1-2-3"
    assert foraged((0, 1), (0,), ()) == "3-2-1"


def test_food_that_is_left_means_no_order():
    assert foraged((0, 2), (2,)) is None
    assert foraged((0, 1, 2)) is None


def test_all_six_orders_have_names_of_their_own():
    names = LBF().strategies().names
    assert len(set(names)) == 6
    assert set(names) == {"1-2-3", "1-3-2", "2-1-3", "2-3-1", "3-1-2", "3-2-1"}


def test_what_happens_after_the_end_of_an_episode_does_not_count():
    watcher = LBF().strategies()
    here = torch.tensor([[*FOODS, [0, 0, 1], [5, 5, 1]]] * 2).flatten(1)[None]
    none = torch.tensor([[GONE, GONE, GONE, [0, 0, 1], [5, 5, 1]]] * 2).flatten(1)[None]
    watcher.watch(here, torch.tensor([True]))
    watcher.watch(none, torch.tensor([False]))
    assert watcher.found().tolist() == [-1]


def cooked(state, *turns):
    """What is told of one episode of these turns of both chefs."""
    game, watcher = Cooking(), Cooking().strategies()
    watcher.watch(game.view(state), torch.tensor([True]))
    for actions in turns:
        state, _, _ = game.step(state, torch.tensor([actions]))
        watcher.watch(game.view(state), torch.tensor([True]))
    (found,) = watcher.found().tolist()
    return watcher.names[found] if found >= 0 else None


RAW = {TOMATO: 5, CARROT: 0}


def test_it_is_told_who_does_which_part_of_the_dish():
    state = kitchen([5, 0], RAW)
    turns = [(USE, STAY), (STAY, USE), (TAKE_FROM_COUNTER, TAKE_FROM_COUNTER), (PUT_ON_TABLE, STAY)]
    turns += [(CLOCKWISE, PUT_ON_TABLE), (CLOCKWISE, STAY), (CLOCKWISE, STAY), (TAKE_FROM_TABLE, STAY)]
    assert cooked(state, *turns) is None  # all but served
    turns += [(PUT_ON_COUNTER, STAY)]
    told = "teammate chops, response blends, response assembles on the table, teammate serves"
    assert cooked(state, *turns) == told


def test_a_dish_may_come_together_in_a_hand_or_on_a_counter():
    begun = {TOMATO: 5, CHOPPED: NOWHERE, CARROT: NOWHERE, BLENDED: SECOND, PLATE: SECOND}
    state = kitchen([3, 5], {**begun, CARROT: 0, BLENDED: NOWHERE})
    # The second chef chops, then walks to the blender with the plate and the tomato in hand.
    turns = [(STAY, USE), (STAY, TAKE_FROM_COUNTER), *[(STAY, CLOCKWISE)] * 5, (STAY, USE), (STAY, TAKE_FROM_COUNTER)]
    turns += [(STAY, ANTICLOCKWISE)] * 2 + [(STAY, PUT_ON_COUNTER)]
    told = "response chops, response blends, response assembles in hand, response serves"
    assert cooked(state, *turns) == told
    assert cooked(state, *turns[:-1]) is None
    # The same, put down beside the blender's carrot: together on counter 0, carried by the first chef.
    state = kitchen([9, 5], {**begun, CARROT: 0, BLENDED: NOWHERE, TOMATO: 5})
    turns = [(STAY, USE), (STAY, TAKE_FROM_COUNTER), *[(STAY, CLOCKWISE)] * 3, (CLOCKWISE, STAY), (USE, CLOCKWISE)]
    turns += [(CLOCKWISE, STAY), (CLOCKWISE, CLOCKWISE), (STAY, PUT_ON_COUNTER), (STAY, TAKE_FROM_COUNTER)]
    turns += [(STAY, ANTICLOCKWISE)] * 2 + [(STAY, PUT_ON_COUNTER)]
    told = "response chops, teammate blends, response assembles on a counter, response serves"
    assert cooked(state, *turns) == told


def test_a_dish_that_a_tool_completes_is_assembled_by_whoever_used_it():
    state = kitchen([3, 5], {TOMATO: 5, CARROT: NOWHERE, BLENDED: 5, PLATE: 5})
    game, watcher = Cooking(), Cooking().strategies()
    watcher.watch(game.view(kitchen([3, 0], {**RAW, PLATE: 5})), torch.tensor([True]))  # the carrot is still to blend
    watcher.watch(game.view(state), torch.tensor([True]))
    turns = [(STAY, USE), (STAY, TAKE_FROM_COUNTER), *[(STAY, CLOCKWISE)] * 3, (STAY, PUT_ON_COUNTER)]
    for actions in turns:
        state, _, _ = game.step(state, torch.tensor([actions]))
        watcher.watch(game.view(state), torch.tensor([True]))
    told = "response chops, response blends, response assembles on a counter, response serves"
    assert watcher.names[watcher.found().item()] == told
