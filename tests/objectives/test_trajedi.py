"""TrajeDi's estimator against a slow, literal transcription: loops over windows, teams and steps."""

import math

import pytest
import torch

from brdiv.objectives import TrajeDi
from brdiv.objectives.trajedi import trajectory_divergence
from brdiv.training import TeammateGenerator
from tests.objectives.rollouts import random_rollout

K = 4


def literal(log_probs, ids, done, g, clip):
    """The negative of the loss, step by step; a window is cut where an episode ends in it."""
    total, steps = 0.0, 0
    rows, length, n_types = log_probs.shape
    for b in range(rows):
        parts, part = [], []
        for t in range(length):
            part.append(t)
            if done[b, t] or t == length - 1:
                parts.append(part)
                part = []
        for part in parts:
            i, n = int(ids[b, part[0]]), len(part)
            own = [[float(log_probs[b, t, k]) for t in part] for k in range(n_types)]
            delta = [
                [sum((1.0 if t == u else g ** abs(t - u)) * own[k][u] for u in range(n)) for t in range(n)]
                for k in range(n_types)
            ]
            bar = [math.log(sum(math.exp(delta[k][t]) for k in range(n_types)) / n_types) for t in range(n)]
            value = 0.0
            for k in range(n_types):
                w = min(math.exp(sum(own[k]) - sum(own[i])), clip)
                value += w * sum(bar[t] - delta[k][t] for t in range(n)) / n / n_types
            total += value * n
            steps += n
    return -total / steps


def windows(generator, rows=12, steps=8):
    log_probs = torch.rand(rows, steps, K, generator=generator, dtype=torch.float64).log()
    done = torch.rand(rows, steps, generator=generator) < 0.2
    # Ids are drawn when an episode starts, and kept.
    ids = torch.randint(K, (rows, steps), generator=generator)
    for t in range(1, steps):
        ids[:, t] = ids[:, t].where(done[:, t - 1], ids[:, t - 1])
    return log_probs, ids, done


@pytest.mark.parametrize("g", [0.0, 0.25, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("clip", [1.5, 1e9])
def test_the_estimate_is_the_literal_one(g, clip, generator):
    log_probs, ids, done = windows(generator)
    assert done[:, :-1].any()
    assert not done.all(1).any()
    ours = trajectory_divergence(log_probs, ids, done, g, clip)
    assert float(ours) == pytest.approx(literal(log_probs, ids, done, g, clip), rel=1e-10)


def test_the_gradient_leaves_importance_weights_alone(generator):
    log_probs, ids, done = windows(generator)
    leaf = log_probs.clone().requires_grad_()
    trajectory_divergence(leaf, ids, done, 0.5, 10.0).backward()
    step, b, t, k = 1e-6, 3, 2, 1

    # Moving one entry with the weights held: compare with finite differences of a frozen-weight estimate.
    def frozen(values):
        episode = done.cumsum(1) - done.long()
        together = episode[:, :, None] == episode[:, None, :]
        time = torch.arange(8)
        near = 0.5 ** (time[:, None] - time[None, :]).abs().double() * together
        delta = near @ values
        whole = together.double() @ log_probs
        w = (whole - whole.gather(-1, ids.unsqueeze(-1))).exp().clamp(max=10.0)
        return (w * (delta - delta.logsumexp(-1, keepdim=True) + math.log(K))).mean()

    up, down = log_probs.clone(), log_probs.clone()
    up[b, t, k] += step
    down[b, t, k] -= step
    assert float(leaf.grad[b, t, k]) == pytest.approx(float(frozen(up) - frozen(down)) / (2 * step), rel=1e-5)


def test_teams_that_are_all_alike_have_no_divergence():
    log_probs = torch.full((3, 8, 1), -1.2).expand(-1, -1, K)
    none = torch.zeros(3, 8, dtype=torch.bool)
    assert float(
        trajectory_divergence(log_probs, torch.zeros(3, 8, dtype=torch.long), none, 0.5, 10.0)
    ) == pytest.approx(0.0, abs=1e-6)


def test_teams_that_never_do_the_same_reach_the_most_there_is():
    """Whole trajectories that only their own team would play: log K over K, for the one team whose weight is not 0."""
    log_probs = torch.full((K, 8, K), -200.0)
    ids = torch.arange(K)[:, None].expand(-1, 8)
    log_probs[torch.arange(K), :, torch.arange(K)] = 0.0
    none = torch.zeros(K, 8, dtype=torch.bool)
    assert float(trajectory_divergence(log_probs, ids, none, 1.0, 10.0)) == pytest.approx(math.log(K) / K)


@pytest.mark.parametrize("g", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("scale", [1e2, 1e4, 1e6])
def test_near_deterministic_policies_give_finite_losses_and_gradients(g, scale, generator):
    torch.manual_seed(0)
    module = TeammateGenerator(6, 5, TrajeDi(g, weight=1.0), n_types=K, hidden=[16])
    with torch.no_grad():
        module.population.layers[-1].weight.mul_(scale)
    rollout = random_rollout(generator, K, rows=(32, 0))
    loss = module.losses(rollout, entropy_weight=0.01)
    sum(loss.values()).backward()
    assert all(value.isfinite() for value in loss.values())
    assert all(p.grad.isfinite().all() for p in module.parameters() if p.grad is not None)


def test_its_name_tells_the_action_discount():
    assert [TrajeDi(g).label for g in (0.0, 0.25, 0.5, 0.75, 1.0)] == [
        "TrajeDi0", "TrajeDi025", "TrajeDi05", "TrajeDi075", "TrajeDi1",
    ]  # fmt: skip


@pytest.mark.parametrize("wrong", [{"action_discount": 1.5}, {"weight": -1.0}, {"clip": 0.5}])
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        TrajeDi(**wrong)
