"""Best-Response Diversity (Eq. 6) and its slope in each entry of the cross-play matrix (Eqs. 8 and 10)."""

import torch
from torch import Tensor


def best_response_diversity(cross_play: Tensor) -> Tensor:
    """Sum up a cross-play matrix ``[..., K, K]`` as BRDiv ``[...]`` (Eq. 6).

    Every entry occurs in Eq. 6 with a fixed weight: a diagonal one once in the trace and once in each of its
    2 (K - 1) comparisons; an off-diagonal one in two comparisons, negatively.

    >>> best_response_diversity(torch.eye(2))
    tensor(6.)
    """
    n_types = cross_play.shape[-1]
    ids = torch.arange(n_types, device=cross_play.device)
    return (brdiv_slope(ids[:, None], ids[None, :], n_types) * cross_play).sum((-2, -1))


def brdiv_slope(i: Tensor, j: Tensor, n_types: int) -> Tensor:
    """What a unit of pair (i, j)'s return is worth to BRDiv (Eq. 6): 2K - 1 on the diagonal, -2 off it.

    BRDiv is linear in the matrix, so replacing one entry (Eq. 10) changes it by this slope times the change: the
    advantage of Eq. 8 needs one critic value, not K x K of them.
    """
    return torch.where(i == j, 2.0 * n_types - 1.0, -2.0)


def mean_diagonal(cross_play: Tensor) -> Tensor:
    """Mean self-play return ``[...]`` of a cross-play matrix ``[..., K, K]``."""
    return cross_play.diagonal(dim1=-2, dim2=-1).mean(-1)


def mean_off_diagonal(cross_play: Tensor) -> Tensor:
    """Mean cross-play return ``[...]`` of a cross-play matrix ``[..., K, K]``."""
    n_types = cross_play.shape[-1]
    trace = cross_play.diagonal(dim1=-2, dim2=-1).sum(-1)
    return (cross_play.sum((-2, -1)) - trace) / (n_types * (n_types - 1))


def interchangeable_groups(cross_play: Tensor, share: float = 0.9) -> list[list[int]]:
    """Sort the teams of a cross-play matrix ``[K, K]`` into groups whose members can stand in for each other.

    Teams i and j can if either's teammate earns with the other's best response at least ``share`` of what both teams
    earn in self-play. A group holds whoever is linked by such pairs. A team that earns less than half of what the best
    one does has not learned the game, and is in none.

    >>> interchangeable_groups(torch.tensor([[1.0, 0.0, 0.9], [0.1, 1.0, 0.0], [1.0, 0.0, 1.0]]))
    [[0, 2], [1]]
    """
    own = cross_play.diagonal()
    enough = share * torch.maximum(own[:, None], own[None, :])
    linked = ((cross_play >= enough) & (enough <= cross_play.T)).tolist()
    groups: list[list[int]] = []
    for team in ((own > 0) & (own >= own.max() / 2)).nonzero().flatten().tolist():
        near = [group for group in groups if any(linked[team][other] for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append(sorted([team, *(other for group in near for other in group)]))
    return sorted(groups)
