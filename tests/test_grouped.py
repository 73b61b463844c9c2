import pytest
import torch

from brdiv.grouped import group_by_policy, group_in_blocks


@pytest.mark.parametrize("group", [group_by_policy, group_in_blocks])
@pytest.mark.parametrize("policy", [[0] * 9, [3, 1, 1, 0, 3, 3, 3, 3, 3, 3, 1], [2], list(range(4)) * 5])
def test_groups_hold_every_sample_once_with_its_own_policy(policy, group):
    policy = torch.tensor(policy)
    groups = group(policy, 4)
    assert len(groups.slot.unique()) == len(policy)
    row = groups.slot // groups.size
    assert int(row.max()) < groups.number
    owner = torch.arange(4) if groups.owner is None else groups.owner
    assert torch.equal(owner[row], policy)
    assert torch.equal(groups.sample[groups.slot], torch.arange(len(policy)))


@pytest.mark.parametrize(("each", "spare"), [(30, 3), (200, 15)])
def test_little_is_added_to_groups_to_have_few_sizes(each, spare):
    sizes = {group_by_policy(torch.arange(4).repeat_interleave(each + more), 4).size for more in range(48)}
    assert len(sizes) <= 48 // (spare + 1) + 1
    assert all(
        0 <= group_by_policy(torch.arange(4).repeat_interleave(each + more), 4).size - each - more <= spare
        for more in range(48)
    )
