import pytest
import torch

from brdiv.games import Policies, Reaching
from brdiv.teamwork import cross_play, play

CORNERS = torch.tensor([[0, 0], [4, 4], [0, 4], [4, 0]])


class CornerSeekers(Policies):
    """Policy k walks straight to corner k."""

    names = ("0", "1", "2", "3")

    def act(self, which, seen, memory, generator):
        cell = seen.observation[..., :25].argmax(-1)
        own = torch.stack([cell // 5, cell % 5], -1)
        target = CORNERS[which]
        dx, dy = (target - own).unbind(-1)
        along_x = torch.where(dx < 0, 1, 2)
        along_y = torch.where(dy < 0, 3, 4)
        return torch.where(dx != 0, along_x, torch.where(dy != 0, along_y, 0))


class Idle(Policies):
    """Three policies that stay where they are."""

    names = ("a", "b", "c")

    def act(self, which, seen, memory, generator):
        return torch.zeros_like(which)


def test_pairs_that_agree_are_paid_and_others_run_out_of_time(generator):
    played = cross_play(Reaching(), CornerSeekers(), CornerSeekers(), 300, generator)
    matrix = played.returns.mean(-1)
    assert torch.equal(matrix, torch.diag(torch.tensor([1.0, 1.0, 0.75, 0.75])))
    off_diagonal = ~torch.eye(4, dtype=torch.bool)
    assert (played.lengths[off_diagonal] == 50).all()
    # The later of two uniform starts in the inner square needs 125/27 steps on average to a corner.
    assert played.lengths.diagonal().float().mean() == pytest.approx(4.63, abs=0.1)


def test_every_row_is_exactly_one_episode(generator):
    """Staying on a goal would pay again and again if play went on."""
    game = Reaching(goals=[(x, y) for x in range(1, 4) for y in range(1, 4)], payoffs=[1.0] * 9)

    played = play(game, Idle(), Idle(), torch.zeros(500, 2, dtype=torch.long), generator)
    met = played.returns > 0
    assert 0 < met.sum() < 500
    assert (played.returns[met] == 1).all()
    assert (played.lengths[met] == 1).all()


def test_no_episodes_are_refused(generator):
    with pytest.raises(ValueError, match="episodes is 0"):
        cross_play(Reaching(), CornerSeekers(), CornerSeekers(), 0, generator)
