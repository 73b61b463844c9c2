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


@pytest.mark.parametrize("arguments", [(1, 4, 4), (0, 4, 4), (4, -1, 5), (4, 4, -1), (4, 0, 0), (4, 1, 1, -1)])
def test_impossible_pairings_are_refused(arguments):
    with pytest.raises(ValueError, match=r"n_types is|rows is"):
        Pairing(*arguments)


def test_a_takeover_is_a_probability():
    with pytest.raises(ValueError, match=r"takeover is 1\.5"):
        Pairing(4, 1, 1, 1, takeover=1.5)


def test_mixed_rows_begin_as_cross_play_and_are_taken_over_by_the_partner_of_one_of_the_two(generator):
    pairing = Pairing(4, 100, 100, mixed_play_rows=20_000, takeover=0.25)
    before = pairing.draw(generator)[0]
    assert (before[200:, 0] != before[200:, 1]).all()
    clock = torch.ones(pairing.rows, dtype=torch.long)
    after = pairing.take_over(before, clock, generator)
    assert torch.equal(after[:200], before[:200])
    own = after[200:, 0] == after[200:, 1]
    assert abs(float(own.float().mean()) - 0.25) < 0.02
    stayed = after[200:][own] == before[200:][own]  # [N, 2]: the teammate did, or the best response
    assert (stayed.sum(1) == 1).all()
    assert abs(float(stayed[:, 0].float().mean()) - 0.5) < 0.03
    assert torch.equal(after[200:][~own], before[200:][~own])


def test_nobody_takes_over_what_has_not_begun_or_is_self_play_already(generator):
    pairing = Pairing(3, 2, 2, mixed_play_rows=50, takeover=1.0)
    before = pairing.draw(generator)[0]
    fresh = torch.zeros(pairing.rows, dtype=torch.long)
    assert torch.equal(pairing.take_over(before, fresh, generator), before)
    once = pairing.take_over(before, fresh + 1, generator)
    assert torch.equal(pairing.take_over(once, fresh + 2, generator), once)


def test_without_mixed_rows_nothing_is_drawn(generator):
    pairing = Pairing(3, 2, 2)
    ids, state = pairing.draw(generator)[0], generator.get_state()
    assert pairing.take_over(ids, torch.ones(4, dtype=torch.long), generator) is ids
    assert torch.equal(generator.get_state(), state)
