import pytest
import torch

from brdiv.rollouts import Pairing


def test_self_play_rows_come_first_and_cross_play_never_meets_itself(generator):
    ids = Pairing(3, 10, 50).draw(generator, times=4)
    assert ids.shape == (4, 60, 2)
    assert (ids[:, :10, 0] == ids[:, :10, 1]).all()
    assert (ids[:, 10:, 0] != ids[:, 10:, 1]).all()


def test_pairs_are_uniform(generator):
    n_types, rows = 4, 60_000
    i, j = Pairing(n_types, rows, rows).draw(generator)[0].unbind(-1)
    self_play = torch.bincount(i[:rows], minlength=n_types)
    cross_play = torch.bincount((i * n_types + j)[rows:], minlength=n_types**2).view(n_types, n_types)
    assert cross_play.diagonal().sum() == 0
    for counts in (self_play, cross_play[~torch.eye(n_types, dtype=torch.bool)]):
        expected = rows / len(counts)
        assert (counts - expected).abs().max() < 5 * expected**0.5


@pytest.mark.parametrize("arguments", [(1, 4, 4), (0, 4, 4), (4, -1, 5), (4, 4, -1), (4, 0, 0)])
def test_impossible_pairings_are_refused(arguments):
    with pytest.raises(ValueError, match=r"n_types is|rows is"):
        Pairing(*arguments)
