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


def pressed(objective, earned, progress, rows=(8, 24)):
    """The slopes ``[K, K]`` of a window in which team k earns ``earned[k]`` of every episode, whoever responds."""
    matrix = torch.tensor(earned)[:, None].expand(K, K)
    return pressed_by(objective, matrix, progress, rows)


def pressed_by(objective, matrix, progress=1.0, rows=(8, 240)):
    """The slopes ``[K, K]`` after a window in which every pair earns what ``matrix [K, K]`` says in each episode."""
    objective.build(Sizes(K, D, A, [4]))
    rollout = random_rollout(torch.Generator().manual_seed(0), K, rows=rows)
    rollout["ids"] = rollout["ids"][:, :1].expand(-1, 8, -1).clone()
    rollout["next", "done"] = torch.ones_like(rollout["next", "done"])
    rollout["next", "reward"] = matrix[rollout["ids"][..., 0], rollout["ids"][..., 1]][..., None]
    objective.observe(rollout, progress)
    return objective.slope(torch.cartesian_prod(torch.arange(K), torch.arange(K))).view(K, K)


OFF_DIAGONAL = ~torch.eye(K, dtype=torch.bool)


def test_at_the_balance_sharing_a_strategy_gains_a_team_nothing():
    """What two teams earn alike in all of the rows in which they meet, and in their own, adds up to nothing."""
    rows = (24, 72)
    slopes = pressed(BRDiv(pressure=1.0), [1.0] * K, progress=1.0, rows=rows)
    own_rows, rows_with_another = rows[0] / K, rows[1] / (K * (K - 1))
    assert torch.allclose(own_rows + rows_with_another * slopes[OFF_DIAGONAL], torch.zeros(()), atol=1e-6)
    weight = rows[0] * (K - 1) * (2 * K - 1) / (2 * rows[1])  # as docs/diversity.md has it, in units of Eq. 6
    assert torch.allclose(slopes[OFF_DIAGONAL], torch.tensor(-2 / (2 * K - 1) * weight))
    assert (slopes.diagonal() == 1).all()


def test_pressure_rises_with_the_run():
    slopes = [pressed(BRDiv(pressure=0.8, rise=0.2), [1.0] * K, progress)[0, 1] for progress in (0, 0.1, 0.2, 0.9)]
    assert torch.stack(slopes).tolist() == pytest.approx([0.0, -0.4, -0.8, -0.8])  # balance: 3 x 8 / 24


def test_a_pair_is_pushed_by_what_the_worse_of_its_teams_can_do():
    slopes = pressed(BRDiv(pressure=1.0), [1.0, 0.5, 0.0, 0.1], progress=1.0)
    expected = [[1, -0.25, 0, -0.01], [-0.25, 1, 0, -0.01], [0, 0, 1, 0], [-0.01, -0.01, 0, 1]]
    assert torch.allclose(slopes, torch.tensor(expected), atol=1e-6)


def test_with_more_patience_teams_that_still_learn_are_pushed_less():
    for patience in (1, 2, 4):
        slopes = pressed(BRDiv(pressure=1.0, patience=patience), [0.5] * K, progress=1.0)
        assert torch.allclose(slopes[OFF_DIAGONAL], torch.tensor(-(0.5**patience)))
        slopes = pressed(BRDiv(pressure=1.0, patience=patience), [1.0] * K, progress=1.0)
        assert torch.allclose(slopes[OFF_DIAGONAL], torch.tensor(-1.0))


def test_what_a_team_can_do_is_a_share_of_the_full_return():
    slopes = pressed(BRDiv(pressure=1.0, full_return=20.0), [10.0] * K, progress=1.0)
    assert torch.allclose(slopes[OFF_DIAGONAL], torch.tensor(-0.25))


def test_early_pressure_is_on_everybody_from_the_first_step_on():
    objective = BRDiv(pressure=0.5, early_pressure=0.5)
    assert torch.allclose(pressed(objective, [0.0] * K, progress=0.0)[OFF_DIAGONAL], torch.tensor(-0.5))
    objective = BRDiv(pressure=1.0, early_pressure=0.5)
    assert torch.allclose(pressed(objective, [0.5] * K, progress=1.0)[OFF_DIAGONAL], torch.tensor(-0.625))


def shared_by_two(share):
    """A matrix in which teams 0 and 1 earn a share of what they can with one of the two ways to mix them."""
    matrix = torch.eye(K)
    matrix[1, 0] = share
    return matrix


@pytest.mark.parametrize(("share", "felt"), [(0.0, 0.0), (0.1, 0.0), (0.15, 0.5), (0.2, 1.0), (0.9, 1.0)])
def test_teams_that_have_little_in_common_are_tolerated(share, felt):
    slopes = pressed_by(BRDiv(pressure=1.0, tolerance=0.2), shared_by_two(share))
    full = pressed_by(BRDiv(pressure=1.0), shared_by_two(share))
    assert slopes[0, 1].item() == pytest.approx(felt * full[0, 1].item(), abs=1e-6)
    assert slopes[1, 0] == slopes[0, 1]
    assert slopes[0, 2] == slopes[2, 3] == 0
    assert (slopes.diagonal() == 1).all()


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_teams_that_can_stand_in_for_each_other_are_pushed_beyond_the_balance(share):
    slopes = pressed_by(BRDiv(pressure=1.0, extra_pressure=0.5), shared_by_two(share))
    full = pressed_by(BRDiv(pressure=1.0), shared_by_two(share))
    assert slopes[0, 1].item() == pytest.approx((1 + 0.5 * share) * full[0, 1].item())
    assert slopes[2, 3] == full[2, 3]


def test_what_teams_have_in_common_is_a_share_of_what_the_worse_one_earns():
    matrix = torch.eye(K)
    matrix[0, 0], matrix[0, 1] = 0.5, 0.25
    slopes = pressed_by(BRDiv(pressure=1.0, patience=0.0, extra_pressure=1.0), matrix)
    assert (slopes[0, 1] / slopes[0, 2]).item() == pytest.approx(1.5)


def test_a_team_that_has_found_nothing_keeps_exploring():
    objective = BRDiv(pressure=1.0, seeking_entropy=0.1)
    ids = torch.tensor([[0, 1], [2, 3]])
    assert objective.entropy_weight(0.02, ids) == 0.02
    pressed(objective, [0.0, 0.25, 0.45, 1.0], progress=1.0)
    assert objective.entropy_weight(0.02, ids).flatten().tolist() == pytest.approx([0.1, 0.05, 0.02, 0.02])
    assert objective.entropy_weight(0.2, ids).unique().tolist() == pytest.approx([0.2])
    plain = BRDiv(pressure=1.0)
    pressed(plain, [0.0] * K, progress=1.0)
    assert plain.entropy_weight(0.02, ids) == 0.02


def test_without_a_pressure_windows_change_nothing(generator):
    objective = BRDiv()
    objective.build(Sizes(K, D, A, [4]))
    objective.observe(random_rollout(generator, K), 0.5)
    assert objective.slope(torch.tensor([[1, 1], [0, 1]])).tolist() == pytest.approx([1, -2 / 7])
    assert objective.state_dict() == {}
    assert objective.scalars() == {}


def test_the_weight_that_a_pressure_amounts_to_is_shown():
    objective = BRDiv(pressure=1.0)
    pressed(objective, [1.0] * K, progress=1.0)
    assert objective.scalars()["cross_play_weight"].item() == pytest.approx(3.5)  # 8 x 3 x 7 / (2 x 24)


@pytest.mark.parametrize(
    "wrong",
    [
        {"pressure": -1.0},
        {"early_pressure": -0.1},
        {"seeking_entropy": -0.1},
        {"rise": 1.5},
        {"patience": -1.0},
        {"full_return": 0.0},
        {"memory": 0.5},
        {"tolerance": -0.1},
        {"extra_pressure": -0.1},
    ],
)
def test_settings_that_mean_nothing_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        BRDiv(**wrong)
