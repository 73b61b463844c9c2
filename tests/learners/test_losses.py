"""PPO's formulas against literal ones, and LIAM's loss by hand."""

import math

import torch
from tensordict import TensorDict
from torchrl.objectives.value.functional import generalized_advantage_estimate

from brdiv.learners import LIAM, LearnerSizes
from brdiv.learners.losses import advantages, clipped_loss, policy_entropy, value_loss
from brdiv.recurrent import Output


def test_advantages_are_torchrls_through_both_kinds_of_ends():
    torch.manual_seed(0)
    reward, value, after = torch.randn(3, 6, 9)
    terminated, truncated = (torch.rand(2, 6, 9) < 0.2).unbind()
    done = terminated | truncated
    ours = advantages(reward, value, after * ~terminated, done, 0.9, 0.8)
    columns = [x.unsqueeze(-1) for x in (value, after, reward, done, terminated)]
    theirs, _ = generalized_advantage_estimate(0.9, 0.8, *columns)
    torch.testing.assert_close(ours, theirs.squeeze(-1))


def test_an_advantage_by_hand():
    """Two steps, the game won with the second: 1 - 0.5, and 0 + 0.9 * 0.5 - 0.25 + 0.9 * 0.8 * 0.5."""
    reward, value, after = torch.tensor([[[0.0, 1.0]], [[0.25, 0.5]], [[0.5, 0.0]]])
    found = advantages(reward, value, after, torch.tensor([[False, True]]), 0.9, 0.8)
    torch.testing.assert_close(found, torch.tensor([[0.56, 0.5]]))


def test_no_more_is_gained_beyond_the_clip():
    advantage = torch.tensor([1.0, 1.0, -1.0, -1.0])
    ratio = torch.tensor([1.1, 1.5, 0.5, 1.5])
    expected = -torch.tensor([1.1, 1.2, -0.8, -1.5]).mean()
    torch.testing.assert_close(clipped_loss(ratio.log(), torch.zeros(4), advantage, 0.2), expected)


def test_a_clipped_sample_teaches_nothing():
    log_prob = torch.tensor([0.5, -0.5], requires_grad=True)
    clipped_loss(log_prob, torch.zeros(2), torch.tensor([1.0, -1.0]), 0.2).backward()
    assert log_prob.grad.tolist() == [0.0, 0.0]


def test_value_loss_and_entropy_by_hand():
    assert value_loss(torch.tensor([1.0, 3.0]), torch.tensor([0.0, 1.0])) == (0.5 + 2.0) / 2
    torch.testing.assert_close(policy_entropy(torch.full((3, 4), 0.25).log()), torch.tensor(math.log(4)))


def test_liams_loss_by_hand():
    """A decoder that says the same of everything: observation (1, 0), actions with probabilities 1/4 and 3/4."""
    liam = LIAM(weight=2.0, hidden=3)
    liam.build(LearnerSizes(observation_size=2, n_actions=2, memory=4))
    for parameter in liam.decoder.parameters():
        torch.nn.init.zeros_(parameter)
    liam.decoder[-1].bias.data = torch.tensor([1.0, 0.0, 0.0, math.log(3)])
    # One row of two steps. The teammate, seat 0, sees (1, 0), then (0, 2), and does 1, then 0; the learner's are noise.
    observation = torch.tensor([[[[1.0, 0.0], [7.0, 7.0]], [[0.0, 2.0], [7.0, 7.0]]]])
    action = torch.tensor([[[1, 0], [0, 1]]])
    rollout = TensorDict({"agents": TensorDict({"observation": observation, "action": action}, [1, 2, 2])}, [1, 2])
    losses = liam.auxiliary(Output(torch.zeros(1, 2, 2), torch.zeros(1, 2), torch.randn(1, 2, 4)), rollout)
    squared = (0 + 0 + 1 + 4) / 4
    cross_entropy = -(math.log(3 / 4) + math.log(1 / 4)) / 2
    torch.testing.assert_close(losses["teammate_observation"], torch.tensor(2.0 * squared))
    torch.testing.assert_close(losses["teammate_action"], torch.tensor(2.0 * cross_entropy))


def test_liams_losses_teach_the_memory():
    liam = LIAM()
    liam.build(LearnerSizes(2, 2, 4))
    memory = torch.randn(1, 2, 4, requires_grad=True)
    agents = TensorDict({"observation": torch.rand(1, 2, 2, 2), "action": torch.zeros(1, 2, 2).long()}, [1, 2, 2])
    losses = liam.auxiliary(
        Output(torch.zeros(1, 2, 2), torch.zeros(1, 2), memory), TensorDict({"agents": agents}, [1, 2])
    )
    for loss in losses.values():
        (gradient,) = torch.autograd.grad(loss, memory, retain_graph=True)
        assert gradient.any()
