"""How few groups teams can be sorted into, if one response serves any two of a group."""

from collections.abc import Iterator, Sequence
from functools import cache

MOST_TEAMS = 12
"""Teams of which the smallest number of groups is found by looking at all: 3 to the power of their number."""


def smallest_cover(serves: Sequence[Sequence[bool]], teams: Sequence[int] | None = None) -> list[list[int]]:
    """Sort teams into as few groups as possible, any two of one linked by ``serves [K][K]``: a minimum clique cover.

    Exact. Of several such covers it is the one whose first groups are largest, team by team. ``teams`` are those to
    sort, all of them if none are given.

    >>> smallest_cover([[True, True, False], [True, True, True], [False, True, True]])
    [[0, 1], [2]]
    """
    members = list(range(len(serves)) if teams is None else teams)
    if len(members) > MOST_TEAMS:
        raise ValueError(f"{len(members)} teams are more than {MOST_TEAMS}")
    linked = [
        sum(1 << b for b, j in enumerate(members) if b != a and serves[i][j] and serves[j][i])
        for a, i in enumerate(members)
    ]

    @cache
    def is_clique(group: int) -> bool:
        if not group:
            return True
        first = (group & -group).bit_length() - 1
        others = group & (group - 1)
        return others & ~linked[first] == 0 and is_clique(others)

    @cache
    def best(left: int) -> tuple[int, ...]:
        if not left:
            return ()
        first = left & -left
        cliques = [first | part for part in subsets(left & linked[first.bit_length() - 1]) if is_clique(part)]
        covers = [(clique, *best(left & ~clique)) for clique in cliques]
        return min(covers, key=lambda cover: (len(cover), [-group.bit_count() for group in cover], cover))

    cover = best((1 << len(members)) - 1)
    return [[team for bit, team in enumerate(members) if group >> bit & 1] for group in cover]


def subsets(members: int) -> Iterator[int]:
    """List all subsets of a set, both written as bits.

    >>> list(subsets(0b101))
    [5, 4, 1, 0]
    """
    part = members
    while part:
        yield part
        part = (part - 1) & members
    yield 0
