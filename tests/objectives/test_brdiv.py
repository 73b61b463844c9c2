"""BRDiv's short form against Algorithm 2 as printed: matrices, loops and all."""

import pytest
import torch

from brdiv.metrics import best_response_diversity
from brdiv.objectives import BRDiv, Sizes
from brdiv.training import TeammateGenerator
from tests.objectives.rollouts import random_rollout

K, D, A, T = 4, 6, 5, 8
GAMMA = 0.99


def algorithm_2(module, rollout, self_play_rows):
    """Algorithm 2, line by line, for each row of the buffers in turn; SP first, then XP. Returns sums over samples."""
    critic_total = actor_total = 0.0
    for data in (rollout[:self_play_rows], rollout[self_play_rows:]):
        for row in data:
            observation, after = row["agents", "observation"], row["next"]
            ids = row["ids"]

            def continued(critic, t, later, row=row, after=after, ids=ids):
                """The return after step t: nothing more, bootstrapped at a cut, or what the loop has so far."""
                if after["terminated"][t]:
                    return row["next", "reward"][t, 0]
                if after["truncated"][t] or t == T - 1:
                    later = critic(after["agents", "observation"][t], ids[t]).detach()
                return row["next", "reward"][t, 0] + GAMMA * later

            target = bootstrap = None
            for t in reversed(range(T)):
                i, j = ids[t].tolist()
                target = continued(module.target_critic, t, target)
                critic_total = critic_total + 0.5 * (module.critic(observation[t], ids[t]) - target) ** 2
                bootstrap = continued(module.critic, t, bootstrap)
                with torch.no_grad():
                    baseline = torch.stack(
                        [
                            torch.stack([module.critic(observation[t], torch.tensor([p, q])) for q in range(K)])
                            for p in range(K)
                        ]
                    )
                    predicted = baseline.clone()
                    predicted[i, j] = bootstrap
                    advantage = best_response_diversity(predicted) - best_response_diversity(baseline)
                logits = module.population(observation[t], ids[t]).log_softmax(-1)
                first, second = row["agents", "action"][t].tolist()
                actor_total = actor_total - (logits[0, first] + logits[1, second]) * advantage
    return critic_total, actor_total


@pytest.fixture
def _double_precision():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture
def module(_double_precision):
    torch.manual_seed(0)
    module = TeammateGenerator(D, A, BRDiv(), n_types=K, hidden=[16, 16], gamma=GAMMA)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return module


def test_loss_and_gradients_equal_algorithm_2(module, generator):
    rollout = random_rollout(generator, K, observation_size=D, n_actions=A)
    samples = rollout.numel()
    critic_sum, actor_sum = algorithm_2(module, rollout, self_play_rows=8)
    losses = module.losses(rollout, entropy_weight=0.0)
    assert torch.isclose(losses["critic"], critic_sum / samples, rtol=1e-10)
    # One constant throughout: the slopes are in units of self-play return, (2K - 1) times smaller than Eq. 6's.
    scale = (2 * K - 1) * samples
    assert torch.isclose(losses["actor"], actor_sum / scale, rtol=1e-10)

    parameters = [*module.population.parameters(), *module.critic.parameters()]
    ours = torch.autograd.grad(losses["critic"] + losses["actor"], parameters)
    literal = torch.autograd.grad(critic_sum / samples + actor_sum / scale, parameters)
    for got, expected in zip(ours, literal, strict=True):
        assert torch.allclose(got, expected, atol=1e-12)
        assert expected.abs().sum() > 0


def test_the_weight_scales_cross_play_alone():
    ids = torch.tensor([[0, 0], [0, 1], [3, 3], [2, 0]])
    plain, heavy = BRDiv(), BRDiv(cross_play_weight=3.0)
    for objective in (plain, heavy):
        objective.build(Sizes(K, D, A, [4]))
    assert plain.slope(ids).tolist() == pytest.approx([1, -2 / 7, 1, -2 / 7])
    assert heavy.slope(ids).tolist() == pytest.approx([1, -6 / 7, 1, -6 / 7])


def test_a_negative_weight_is_refused():
    with pytest.raises(ValueError, match="cross_play_weight"):
        BRDiv(cross_play_weight=-1.0)


def test_cross_play_warms_up_and_self_play_does_not():
    objective = BRDiv(cross_play_weight=3.0, warm_up=0.2)
    objective.build(Sizes(K, D, A, [4]))
    ids = torch.tensor([[1, 1], [0, 1]])
    slopes = {}
    for progress in (0.0, 0.1, 0.2, 0.9):
        objective.observe(None, progress)
        slopes[progress] = objective.slope(ids).tolist()
    assert [own for own, _ in slopes.values()] == [1.0] * 4
    assert [other for _, other in slopes.values()] == pytest.approx([0.0, -3 / 7, -6 / 7, -6 / 7])


def test_a_warm_up_longer_than_the_run_is_refused():
    with pytest.raises(ValueError, match="warm_up"):
        BRDiv(warm_up=1.5)
