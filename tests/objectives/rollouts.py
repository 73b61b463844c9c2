"""Made-up windows of play for tests of objectives."""

import torch
from tensordict import TensorDict


def random_rollout(generator, n_types, rows=(8, 24), steps=8, observation_size=6, n_actions=5):
    """A window ``[B, T]``, self-play rows first, then cross-play ones, in which some episodes end.

    Ids may change with every step, which is harder than what collectors give.
    """
    count = sum(rows)
    i = torch.randint(n_types, (count, steps), generator=generator)
    away = torch.randint(1, n_types, (count, steps), generator=generator)
    away[: rows[0]] = 0
    end = torch.randint(8, (count, steps, 1), generator=generator)
    observation, after = torch.rand(2, count, steps, 2, observation_size, generator=generator)
    return TensorDict(
        {
            "agents": {
                "observation": observation,
                "action": torch.randint(n_actions, (count, steps, 2), generator=generator),
            },
            "ids": torch.stack([i, (i + away) % n_types], -1),
            "next": {
                "agents": {"observation": after},
                "reward": torch.rand(count, steps, 1, generator=generator),
                "terminated": end == 0,
                "truncated": end == 1,
                "done": end <= 1,
            },
        },
        [count, steps],
    )
