import pytest
import torch

from brdiv.games import Reaching

STAY, LEFT, RIGHT, UP, DOWN = range(5)


def step(first, second, actions, game=None):
    """Step one row from two (x, y) cells; returns positions, reward, terminated."""
    game = game or Reaching()
    state = game.from_view(torch.tensor([[[*first, *second], [*second, *first]]]))
    state, reward, terminated = game.step(state, torch.tensor([actions]))
    return state["positions"][0].tolist(), reward.item(), terminated.item()


@pytest.mark.parametrize(
    ("action", "cell"), [(STAY, [2, 2]), (LEFT, [1, 2]), (RIGHT, [3, 2]), (UP, [2, 1]), (DOWN, [2, 3])]
)
def test_each_action_moves_one_cell(action, cell):
    assert step((2, 2), (0, 1), (action, STAY)) == ([cell, [0, 1]], 0.0, False)
    assert step((0, 1), (2, 2), (STAY, action)) == ([[0, 1], cell], 0.0, False)


@pytest.mark.parametrize(("cell", "action"), [((0, 2), LEFT), ((4, 2), RIGHT), ((2, 0), UP), ((2, 4), DOWN)])
def test_walls_stop_a_move(cell, action):
    assert step(cell, (2, 2), (action, STAY))[0][0] == list(cell)


def test_agents_may_share_and_swap_cells():
    assert step((1, 1), (2, 1), (RIGHT, LEFT))[0] == [[2, 1], [1, 1]]
    assert step((1, 1), (2, 1), (RIGHT, STAY))[0] == [[2, 1], [2, 1]]


@pytest.mark.parametrize(("corner", "pay"), [((0, 0), 1.0), ((4, 4), 1.0), ((0, 4), 0.75), ((4, 0), 0.75)])
def test_meeting_on_a_corner_pays_and_ends_the_task(corner, pay):
    assert step(corner, corner, (STAY, STAY))[1:] == (pay, True)


def test_meeting_elsewhere_or_on_two_corners_pays_nothing():
    assert step((2, 2), (2, 2), (STAY, STAY))[1:] == (0.0, False)
    assert step((0, 0), (4, 4), (STAY, STAY))[1:] == (0.0, False)
    assert step((0, 0), (0, 4), (STAY, STAY))[1:] == (0.0, False)


def test_payment_is_for_where_the_moves_lead():
    assert step((1, 0), (0, 1), (LEFT, UP))[1:] == (1.0, True)
    assert step((0, 0), (0, 0), (RIGHT, STAY))[1:] == (0.0, False)


def test_starts_are_uniform_over_the_inner_square(generator):
    positions = Reaching().initial(90_000, generator)["positions"]
    joint = (positions - 1).flatten(1) @ torch.tensor([27, 9, 3, 1])
    counts = torch.bincount(joint, minlength=81).float()
    chi_square = ((counts - 90_000 / 81) ** 2 / (90_000 / 81)).sum()
    assert len(counts) == 81
    assert chi_square < 130  # 80 degrees of freedom: 99.9 % of draws stay below 125


def test_the_goal_that_an_episode_ends_on_is_its_strategy():
    watcher = Reaching().strategies()
    views = torch.tensor([[0, 0, 0, 0], [4, 0, 4, 0], [2, 2, 2, 2], [0, 0, 4, 4]])
    both = torch.stack([views, views.roll(2, -1)], 1)
    running = torch.tensor([True, True, True, True])
    watcher.watch(torch.ones_like(both), running)
    watcher.watch(both, running)
    watcher.watch(torch.zeros_like(both), ~running)  # what comes after the end doesn't count
    assert watcher.found().tolist() == [0, 3, -1, -1]
    assert watcher.names == ["meet on 0, 0", "meet on 4, 4", "meet on 0, 4", "meet on 4, 0"]


def test_other_grids_are_a_matter_of_arguments():
    game = Reaching(size=7, goals=[(3, 0)], payoffs=[2.0], horizon=9)
    assert step((3, 0), (3, 1), (STAY, UP), game) == ([[3, 0], [3, 0]], 2.0, True)
    assert step((5, 5), (3, 1), (RIGHT, UP), game)[0][0] == [6, 5]
    assert game.observation_size == 98


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"goals": [(0, 5)], "payoffs": [1.0]}, r"goal \(0, 5\) is outside the grid of 5 x 5"),
        ({"goals": [(-1, 0)], "payoffs": [1.0]}, "outside the grid"),
        ({"goals": [], "payoffs": []}, "goals is empty"),
        ({"payoffs": [1.0]}, "4 goals and 1 payoffs"),
        ({"payoffs": [1.0, 1.0, 0.0, 1.0]}, "must be positive"),
        ({"goals": [(0, 0), (0, 0)], "payoffs": [1.0, 1.0]}, "repeats a cell"),
        ({"size": 2}, "size is 2"),
        ({"horizon": 0}, "horizon is 0"),
    ],
)
def test_layouts_that_can_not_be_played_are_refused(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        Reaching(**arguments)


def test_recorded_play_is_replayed_in_every_step(recorded):
    trace = recorded("transitions_cooperative_reaching")
    game = Reaching()
    state = game.from_view(trace["obs0"].long())
    assert torch.equal(game.view(state), trace["obs0"].long())
    compared = 0
    for t in range(trace["act"].shape[1]):
        state, reward, terminated = game.step(state, trace["act"][:, t].long())
        live = t < trace["len"]
        assert torch.equal(game.view(state)[live], trace["obs"][:, t].long()[live])
        assert torch.equal(reward[live], trace["rew"][:, t][live])
        truncated = torch.tensor(t + 1 >= game.horizon)
        assert torch.equal((terminated | truncated)[live], trace["done"][:, t][live])
        compared += int(live.sum())
    assert compared == int(trace["len"].sum())
    assert compared > 1000
