"""The scripted teammates against recorded ones, and against the sentences that describe them."""

import pytest
import torch

from brdiv.games import LBF, Cooking, Reaching, SeatView
from brdiv.games.cooking.rules import (
    ANTICLOCKWISE,
    BLENDED_CARROT,
    BLENDER,
    CARROT,
    CHOPPED_TOMATO,
    CLOCKWISE,
    HANDS,
    KNIFE,
    NOWHERE,
    PLATE,
    PUT_ON_COUNTER,
    PUT_ON_TABLE,
    SERVING,
    STAY,
    TABLE,
    TAKE_FROM_COUNTER,
    TAKE_FROM_TABLE,
    TOMATO,
    USE,
)

ALWAYS = 200  # draws that would show every action a heuristic may choose


def draws(heuristics, name, views, times):
    """Actions ``[N, times]`` of a fresh heuristic in each view."""
    views = views.long().repeat_interleave(times, 0)
    which = torch.full((len(views),), heuristics.names.index(name))
    generator = torch.Generator().manual_seed(0)
    seen = SeatView(views, views.float())
    memory = heuristics.begin(which, seen, generator)
    return heuristics.act(which, seen, memory, generator).view(-1, times)


def support(heuristics, name, views, n_actions, times=ALWAYS):
    actions = draws(heuristics, name, views, times)
    return torch.stack([(actions == action).any(-1) for action in range(n_actions)], -1)


REACHING_AS_RECORDED = ["H1", "H2", "H3", "H4", "H6", "H5", "H7", "H8", "H9", "H10", "H11"]  # H5, H6 are swapped there


@pytest.mark.parametrize(("column", "name"), enumerate(REACHING_AS_RECORDED))
def test_reaching_choices_are_the_recorded_ones(column, name, recorded):
    traces = recorded("heuristics_cooperative_reaching")
    ours = support(Reaching().heuristics(), name, traces["obs"], 5)
    assert torch.equal(ours, traces["support"][:, column] > 0)


@pytest.mark.parametrize(("column", "name"), enumerate(["H1", "H2", "H10", "H3"]))
def test_lbf_choices_are_the_recorded_ones(column, name, recorded):
    """Recorded are nearest, midpoint, furthest (a fresh H10 chooses that) and a random order (as any of H3 to H8)."""
    traces = recorded("heuristics_lbf")
    ours = support(LBF().heuristics(), name, traces["obs"], 6)
    assert torch.equal(ours, traces["support"][:, column] > 0)


@pytest.mark.parametrize("name", [f"H{number}" for number in range(1, 13)])
def test_cooking_choices_are_the_recorded_ones(name, recorded):
    traces = recorded("heuristics_simple_cooking")
    views = traces["obs"].long()
    theirs = traces["support"][:, int(name[1:]) - 1]
    ours = support(Cooking().heuristics(), name, views, 8)
    same = (ours == (theirs > 0)).all(-1)
    if name == "H6":  # one step in four is anything: 48 draws needn't show all of that, but always the main choice
        assert support(Cooking().heuristics(), name, views[:50], 8, times=1000).all()
        assert (ours | (theirs == 0)).all(-1).float().mean() > 0.9
        calm = support(Cooking().heuristics(), "H3", views, 8)
        main = theirs == theirs.amax(-1, keepdim=True)
        assert (main & calm).any(-1).all()
    elif name in {"H4", "H5"}:  # we take from the table at once; the published chefs walk to cell 0 first
        raw_on_table = (views[:, 12] == TABLE) | (views[:, 14] == TABLE)
        assert same[~raw_on_table].all()
        assert (~raw_on_table).sum() > 400
    else:
        assert same.all()


# --- Cooperative Reaching, by hand: views are own x, y, other x, y.


@pytest.mark.parametrize(
    ("name", "view", "allowed"),
    [
        ("H1", [1, 1, 3, 3], {1}),  # nearest corner (0, 0): left before up
        ("H1", [0, 1, 3, 3], {3}),
        ("H2", [1, 1, 3, 3], {2}),  # furthest corner (4, 4): right before down
        ("H3", [0, 3, 2, 2], {3, 2}),  # both paying corners are 3 and 5 away: up to (0, 0)
        ("H6", [1, 1, 3, 3], {1, 3}),  # both cheap corners are 4 away: left to (0, 4), up before right to (4, 0)
        ("H7", [2, 2, 2, 2], {1, 2, 3}),
        ("H8", [2, 2, 4, 3], {2}),  # the learner is nearest to (4, 4)
        ("H9", [2, 2, 4, 1], {1, 2}),  # of the paying corners, (4, 4) is 3 from the learner, (0, 0) 5
        ("H10", [2, 2, 2, 3], {4}),
        ("H10", [2, 2, 2, 2], {0}),
        ("H11", [2, 2, 2, 2], {0, 1, 2, 3, 4}),
    ],
)
def test_reaching_rules(name, view, allowed):
    chosen = set(draws(Reaching().heuristics(), name, torch.tensor([view]), ALWAYS)[0].tolist())
    assert chosen <= allowed
    if name in {"H7", "H11", "H6"}:
        assert chosen == allowed


def test_reaching_targets_are_kept_and_the_learners_are_not():
    heuristics, generator = Reaching().heuristics(), torch.Generator().manual_seed(0)
    which = torch.tensor([heuristics.names.index("H1"), heuristics.names.index("H8")])
    first, later = torch.tensor([[1, 1, 1, 1]] * 2), torch.tensor([[3, 3, 3, 3]] * 2)
    memory = heuristics.begin(which, SeatView(first, first.float()), generator)
    assert heuristics.act(which, SeatView(later, later.float()), memory, generator).tolist() == [1, 2]


# --- Level-Based Foraging: foods (row, col, level) three times, then own and the other's.

FOODS = [1, 1, 2, 1, 4, 2, 4, 2, 2]


@pytest.mark.parametrize(
    ("name", "players", "allowed"),
    [
        ("H1", [5, 2, 1, 0, 0, 1], {5}),  # beside the nearest food: load
        ("H1", [0, 4, 1, 5, 5, 1], {5}),
        ("H1", [3, 1, 1, 5, 5, 1], {2}),  # nearest is (4, 2): south before east
        ("H2", [5, 5, 1, 1, 5, 1], {1}),  # midpoint (3, 5) is nearest to (1, 4): north
        ("H9", [5, 5, 1, 0, 0, 1], {1}),  # learner nearest to (1, 1)
        ("H10", [5, 2, 1, 0, 0, 1], {1, 4}),  # furthest is (1, 4); north is food (4, 2), so east
        ("H10", [0, 0, 1, 3, 3, 1], {2}),  # furthest from (0, 0) is (4, 2), 20 against 17
    ],
)
def test_lbf_rules(name, players, allowed):
    view = torch.tensor([FOODS + players])
    chosen = set(draws(LBF().heuristics(), name, view, ALWAYS)[0].tolist())
    assert chosen <= allowed


def test_lbf_blocked_players_do_something_valid():
    """The target is straight north behind another food: no needed step is allowed."""
    view = torch.tensor([[1, 2, 2, 3, 2, 2, 4, 4, 2, 4, 2, 1, 5, 5, 1]])
    assert set(draws(LBF().heuristics(), "H10", view, ALWAYS)[0].tolist()) == {0, 2, 3, 4, 5}


@pytest.mark.parametrize("name", [f"H{number}" for number in range(3, 9)])
def test_lbf_orders_are_kept_through_an_episode(name):
    """A food that is due later never becomes the target before an earlier one is gone; each order occurs."""
    heuristics, generator = LBF().heuristics(), torch.Generator().manual_seed(1)
    rows = 300
    view = torch.tensor([[*FOODS, 3, 3, 1, 5, 5, 1]]).repeat(rows, 1)
    which = torch.full((rows,), heuristics.names.index(name))
    memory = heuristics.begin(which, SeatView(view, view.float()), generator)
    orders = {tuple(turn) for turn in memory["turn"].tolist()}
    assert len(orders) == 6
    # From (3, 3) the three foods need north to (1, 1), north to (1, 4), south to (4, 2).
    first = heuristics.act(which, SeatView(view, view.float()), memory, generator)
    assert torch.equal(first == 2, memory["turn"][:, 2] == 0)
    left = view.clone()
    left[:, :9] = torch.tensor([1, 1, 2, 1, 4, 2, -1, -1, 0])  # (4, 2) is gone
    assert (heuristics.act(which, SeatView(left, left.float()), memory, generator) == 1).all()


def test_the_six_orders_differ():
    turns = LBF().heuristics().place_in_order[2:8].tolist()
    assert len({tuple(turn) for turn in turns}) == 6


def test_lbf_furthest_is_kept_until_collected():
    heuristics, generator = LBF().heuristics(), torch.Generator().manual_seed(0)
    which = torch.tensor([heuristics.names.index("H10")])
    start = torch.tensor([[*FOODS, 0, 0, 1, 5, 5, 1]])  # furthest: (4, 2)
    memory = heuristics.begin(which, SeatView(start, start.float()), generator)
    near = torch.tensor([[*FOODS, 3, 2, 1, 5, 5, 1]])  # now it is nearest, and stays the target
    assert heuristics.act(which, SeatView(near, near.float()), memory, generator).tolist() == [5]
    gone = torch.tensor([[1, 1, 2, 1, 4, 2, -1, -1, 0, 3, 2, 1, 5, 5, 1]])  # next furthest from (3, 2): (1, 4)
    heuristics.act(which, SeatView(gone, gone.float()), memory, generator)
    assert memory["target"].tolist() == [[1, 4]]


# --- Simple Cooking: states by hand.


def kitchen(cell=3, other=9, **items):
    """Both seats' views of a kitchen; items by name, the others as at the start."""
    game = Cooking()
    places = torch.tensor([[1, NOWHERE, 6, NOWHERE, TABLE]])
    for name, place in items.items():
        places[0, {"tomato": TOMATO, "chopped": CHOPPED_TOMATO, "carrot": CARROT, "blended": BLENDED_CARROT,
                   "plate": PLATE}[name]] = place  # fmt: skip
    return game.view(game.pack(torch.tensor([[cell, other]]), places, torch.tensor([False])))[:, 0]


MINE = HANDS


@pytest.mark.parametrize(
    ("name", "view", "allowed"),
    [
        ("H1", kitchen(KNIFE, tomato=KNIFE), {USE}),
        ("H2", kitchen(BLENDER, carrot=BLENDER), {USE}),
        ("H7", kitchen(KNIFE, tomato=KNIFE), {CLOCKWISE}),  # not a carrier's job: out of the way
        ("H1", kitchen(3), {CLOCKWISE}),  # carrot on 6
        ("H2", kitchen(3), {ANTICLOCKWISE}),  # tomato on 1
        ("H3", kitchen(3), {ANTICLOCKWISE}),  # tomato is 2 away, carrot 3
        ("H4", kitchen(3), {CLOCKWISE}),
        ("H5", kitchen(3), {ANTICLOCKWISE}),
        ("H1", kitchen(6), {TAKE_FROM_COUNTER}),
        ("H4", kitchen(6), {CLOCKWISE}),  # tomato is furthest
        ("H1", kitchen(6, tomato=TABLE), {TAKE_FROM_TABLE, TAKE_FROM_COUNTER}),  # both at hand
        ("H3", kitchen(3, tomato=TABLE), {TAKE_FROM_TABLE}),
        ("H1", kitchen(1, tomato=MINE), {CLOCKWISE}),
        ("H1", kitchen(KNIFE, tomato=MINE), {PUT_ON_COUNTER}),
        ("H2", kitchen(KNIFE, tomato=MINE, carrot=MINE), {PUT_ON_COUNTER}),  # knife first
        ("H3", kitchen(2, carrot=MINE), {ANTICLOCKWISE}),
        ("H1", kitchen(3, tomato=NOWHERE, carrot=NOWHERE, chopped=5, blended=0), {STAY}),
        ("H1", kitchen(5, tomato=NOWHERE, carrot=NOWHERE, chopped=5, blended=0), {CLOCKWISE}),
        ("H2", kitchen(5, tomato=NOWHERE, carrot=NOWHERE, chopped=5, blended=0), {ANTICLOCKWISE}),
        ("H3", kitchen(8, tomato=NOWHERE, carrot=NOWHERE, chopped=5, blended=0), {CLOCKWISE, ANTICLOCKWISE}),
        ("H7", kitchen(3, tomato=NOWHERE, chopped=5), {CLOCKWISE}),
        ("H8", kitchen(3, tomato=NOWHERE, chopped=5), {ANTICLOCKWISE}),
        ("H9", kitchen(3, tomato=NOWHERE, chopped=5), {CLOCKWISE}),
        ("H7", kitchen(5, tomato=NOWHERE, chopped=5), {TAKE_FROM_COUNTER}),
        ("H7", kitchen(5, tomato=NOWHERE, chopped=MINE), {PUT_ON_TABLE}),  # where the plate is
        ("H7", kitchen(5, tomato=NOWHERE, chopped=MINE, plate=7), {CLOCKWISE}),
        ("H7", kitchen(7, tomato=NOWHERE, chopped=MINE, plate=7), {PUT_ON_COUNTER}),
        ("H9", kitchen(5, tomato=NOWHERE, chopped=MINE, plate=HANDS + 1), {CLOCKWISE}),  # held: to serving
        ("H8", kitchen(SERVING, tomato=NOWHERE, chopped=MINE, plate=HANDS + 1), {PUT_ON_COUNTER}),
        ("H7", kitchen(3, tomato=NOWHERE, chopped=TABLE), {STAY}),  # already with the plate
        ("H7", kitchen(3, tomato=NOWHERE, chopped=SERVING, plate=7), {STAY}),  # already served
        ("H10", kitchen(5, tomato=NOWHERE, chopped=MINE), {CLOCKWISE}),  # the plate doesn't matter
        ("H12", kitchen(SERVING, tomato=NOWHERE, chopped=MINE), {PUT_ON_COUNTER}),
        ("H11", kitchen(3, tomato=NOWHERE, chopped=7), {ANTICLOCKWISE}),
        ("H1", kitchen(3, plate=MINE), {CLOCKWISE}),  # a plate in hand is none of its business
    ],
)
def test_cooking_rules(name, view, allowed):
    assert set(draws(Cooking().heuristics(), name, view, ALWAYS)[0].tolist()) == allowed


def test_one_step_in_four_of_h6_is_anything():
    actions = draws(Cooking().heuristics(), "H6", kitchen(3), 20_000)[0]
    counts = torch.bincount(actions, minlength=8) / 20_000
    assert counts[ANTICLOCKWISE] == pytest.approx(0.75 + 0.25 / 8, abs=0.015)
    assert (counts - 0.25 / 8).abs()[torch.arange(8) != ANTICLOCKWISE].max() < 0.01


def test_h4_keeps_its_target_until_someone_picks_it_up():
    heuristics, generator = Cooking().heuristics(), torch.Generator().manual_seed(0)
    which = torch.tensor([heuristics.names.index("H4")])

    def act(view):
        return heuristics.act(which, SeatView(view, view.float()), memory, generator).tolist()

    start = kitchen(5)  # clockwise: carrot 1 away, tomato 6 away
    memory = heuristics.begin(which, SeatView(start, start.float()), generator)
    act(start)
    assert memory["target"].tolist() == [TOMATO]
    act(kitchen(0))  # now the carrot is further
    assert memory["target"].tolist() == [TOMATO]
    act(kitchen(0, tomato=HANDS + 1))  # the other has it
    assert memory["target"].tolist() == [CARROT]
