"""Samples sorted by who acts on them, so that all policies of a stack run as one batched product."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

MULTIPLE, SMALL_MULTIPLE = 16, 4
"""Sizes that follow the data are rounded up to one: oneDNN builds a kernel for every new shape.

To the small one where sizes are small, as in play, so that little is added to them: there are few of those, too.
"""


def round_up(size: int, usual: int = MULTIPLE**2) -> int:
    """Round a size up to one of few, finely enough where that many are ``usual``."""
    multiple = MULTIPLE if usual >= 8 * MULTIPLE else SMALL_MULTIPLE
    return -(-size // multiple) * multiple


class Groups(NamedTuple):
    """Where N samples stand in a table ``[number, size]`` whose rows each belong to one policy.

    Places that no sample needs show one that stands elsewhere too: what comes out of them is not read, so no gradient
    comes back to them, and filling the table is one gather (at 2,560 samples a third of what copying into zeros took).
    """

    sample: Tensor  # [number * size] which sample is shown in each place
    slot: Tensor  # [N] the place that each sample is read from
    number: int
    size: int
    owner: Tensor | None  # [number] the policy of each row; None where row p is policy p's


def run_grouped(layers: Iterable[nn.Module], x: Tensor, policy: Tensor, n_policies: int) -> Tensor:
    """Run MLPs with ReLU, stacked as ``layers``, on ``x [N, I]``, each sample by that of its ``policy [N]``."""
    groups = group(policy, n_policies)
    x = x.index_select(0, groups.sample).view(groups.number, groups.size, -1)
    *inner, last = layers
    for layer in inner:
        x = layer(x, groups.owner).relu_()
    out: Tensor = last(x, groups.owner).flatten(0, 1).index_select(0, groups.slot)
    return out


def group(policy: Tensor, n_policies: int) -> Groups:
    """Sort samples by ``policy [N]`` into groups of one size."""
    return group_by_policy(policy, n_policies) if policy.device.type == "cpu" else group_in_blocks(policy, n_policies)


def group_by_policy(policy: Tensor, n_policies: int) -> Groups:
    """Make one group a policy, hardly larger than the largest: least work, but the size must be read from the data.

    In numpy, which at hundreds of samples takes less than half of torch's time for these small steps.
    """
    policies = policy.numpy().astype(np.int16)  # so sorting is by radix: a third of the time at thousands of samples
    order = policies.argsort(kind="stable")
    counts = np.bincount(policies, minlength=n_policies)
    size = round_up(int(counts.max()), len(policies) // n_policies)
    # Samples in that order stand one after the other, with a gap where a policy's row ends.
    gaps = np.arange(0, n_policies * size, size) - counts.cumsum() + counts
    place = np.arange(len(policies)) + gaps.repeat(counts)
    sample = np.zeros(n_policies * size, dtype=np.int64)
    sample[place] = order
    slot = np.empty_like(order)
    slot[order] = place
    return Groups(torch.from_numpy(sample), torch.from_numpy(slot), n_policies, size, None)


def group_in_blocks(policy: Tensor, n_policies: int) -> Groups:
    """Let a policy fill as many groups of N / P as it needs: reading sizes from the data would stall a GPU.

    There are never more than 2P of those, so shapes are known beforehand and at most half of the table is padding.
    """
    n_samples, device = len(policy), policy.device
    order = policy.argsort(stable=True)
    # Not by `bincount`, which reads its size on the host.
    bounds = torch.searchsorted(policy[order], torch.arange(n_policies + 1, device=device))
    start, counts = bounds[:-1], bounds.diff()  # [P] where a policy's samples begin in that order, and how many
    number, size = 2 * n_policies, -(-n_samples // n_policies)
    rows = torch.arange(number, device=device)
    end = ((counts + size - 1) // size).cumsum(0)
    first = functional.pad(end, (1, -1))  # [P] a policy's first row
    owner = torch.searchsorted(end, rows, right=True).clamp(max=n_policies - 1)
    begin = start[owner] + (rows - first[owner]) * size  # [number] where a row's samples begin in that order
    shown = (begin[:, None] + torch.arange(size, device=device)).clamp(max=n_samples - 1)
    slot = order.argsort() + (first * size - start)[policy]
    return Groups(order[shown.flatten()], slot, number, size, owner)
