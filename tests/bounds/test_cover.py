import itertools

import pytest
import torch

from brdiv.bounds import smallest_cover
from brdiv.bounds.cover import MOST_TEAMS


def linked_at_random(n_types, share, generator):
    upper = (torch.rand(n_types, n_types, generator=generator) < share).triu(1)
    return (upper | upper.T | torch.eye(n_types, dtype=torch.bool)).tolist()


def fewest_groups(serves):
    """Try every way to give each team the number of a group."""
    n_types = len(serves)
    for number in range(1, n_types + 1):
        for group in itertools.product(range(number), repeat=n_types):
            pairs = itertools.combinations(range(n_types), 2)
            if all(serves[i][j] for i, j in pairs if group[i] == group[j]):
                return number
    return 0


@pytest.mark.parametrize("share", [0.2, 0.5, 0.7, 0.9])
@pytest.mark.parametrize("n_types", [1, 2, 4, 5])
def test_no_sorting_into_groups_needs_fewer(n_types, share, generator):
    for _ in range(5):
        serves = linked_at_random(n_types, share, generator)
        groups = smallest_cover(serves)
        assert len(groups) == fewest_groups(serves)
        assert sorted(team for group in groups for team in group) == list(range(n_types))
        assert all(serves[i][j] for group in groups for i in group for j in group)


def test_a_chain_is_not_a_group():
    """1 goes with 2 and 2 with 3, but 1 not with 3: linked groups would say that one is enough."""
    chain = [[abs(i - j) <= 1 for j in range(4)] for i in range(4)]
    assert smallest_cover(chain) == [[0, 1], [2, 3]]


def test_greed_would_need_one_group_more():
    """The largest group, {1 2 3}, leaves each of the others alone, though each of its three goes with one of them."""
    pairs = {(0, 1), (0, 2), (1, 2), (0, 5), (1, 3), (2, 4)}
    serves = [[i == j or (min(i, j), max(i, j)) in pairs for j in range(6)] for i in range(6)]
    assert smallest_cover(serves) == [[0, 5], [1, 3], [2, 4]]


def test_teams_that_are_not_asked_for_are_left_out():
    everyone = [[True] * 4] * 4
    assert smallest_cover(everyone, [1, 3]) == [[1, 3]]


def test_the_largest_population_takes_no_time_worth_mentioning(generator):
    serves = linked_at_random(MOST_TEAMS, 0.6, generator)
    assert 1 < len(smallest_cover(serves)) < MOST_TEAMS
