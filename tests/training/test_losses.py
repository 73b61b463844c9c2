import math

import pytest
import torch

from brdiv.training.losses import actor_loss, critic_loss, entropy, log_softmax


def test_critic_loss_is_half_the_mean_squared_error():
    assert critic_loss(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 2.0])) == pytest.approx(1.0)


def test_actor_loss_weighs_both_seats_log_probability():
    log_prob = torch.tensor([[-1.0, -2.0], [-0.5, -0.5]])
    assert actor_loss(log_prob, torch.tensor([2.0, -4.0])) == pytest.approx((6.0 - 4.0) / 2)


def test_the_advantage_is_not_differentiated():
    advantage = torch.ones(1, requires_grad=True)
    log_prob = torch.zeros(1, 2, requires_grad=True)
    actor_loss(log_prob, advantage).backward()
    assert advantage.grad is None
    assert log_prob.grad is not None


def test_entropy_of_uniform_policies_is_log_a():
    entropies = entropy(torch.zeros(3, 2, 5).log_softmax(-1))
    assert entropies.shape == (3, 2)
    assert torch.allclose(entropies, torch.tensor(math.log(5)))


def test_entropy_of_a_certain_policy_is_nothing():
    logits = torch.tensor([[[1000.0, 0.0], [0.0, 1000.0]]])
    assert torch.allclose(entropy(logits.log_softmax(-1)), torch.zeros(()), atol=1e-6)


def test_log_probabilities_and_their_gradients_are_those_of_torch():
    logits = torch.randn(7, 5, 2, 6) * 20
    weight = torch.randn_like(logits)
    ours, theirs = (logits.clone().requires_grad_() for _ in range(2))
    found, expected = log_softmax(ours), theirs.log_softmax(-1)
    assert torch.allclose(found, expected, rtol=1e-6, atol=1e-6)
    (found * weight).sum().backward()
    (expected * weight).sum().backward()
    assert torch.allclose(ours.grad, theirs.grad, atol=1e-5)
