import copy

import pytest
import torch
from torch import nn

from brdiv.grouped import group_in_blocks
from brdiv.nets import Critic, Population, SeparateCritics, sample, values_where

K, D, A = 3, 7, 5


@pytest.fixture
def population():
    torch.manual_seed(0)
    population = Population(K, D, A, hidden=[16, 8])
    with torch.no_grad():
        for parameter in population.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return population


def separate_mlps(population):
    """The same 2K actors as ordinary networks, [seat][type]."""
    mlps = []
    for p in range(2 * K):
        layers = []
        for stacked in population.layers:
            linear = nn.Linear(*stacked.weight.shape[1:])
            linear.weight.data = stacked.weight.data[p].T.clone()
            linear.bias.data = stacked.bias.data[p, 0].clone()
            layers += [linear, nn.ReLU()]
        mlps.append(nn.Sequential(*layers[:-1]))
    return mlps[:K], mlps[K:]


def batch(rows=50, steps=4):
    return torch.randn(rows, steps, 2, D), torch.randint(K, (rows, steps, 2))


def test_logits_and_gradients_are_those_of_separate_networks(population):
    mlps = separate_mlps(population)
    observation, ids = batch()
    logits = population(observation, ids)
    expected = torch.stack(
        [
            torch.stack([mlps[seat][i](o[seat]) for seat, i in enumerate(pair.tolist())])
            for o, pair in zip(observation.flatten(0, 1), ids.flatten(0, 1), strict=True)
        ]
    ).view_as(logits)
    assert torch.allclose(logits, expected, atol=1e-5)
    weight = torch.randn_like(logits)
    (logits * weight).sum().backward()
    (expected * weight).sum().backward()
    for number, stacked in enumerate(population.layers):
        for p, mlp in enumerate(mlps[0] + mlps[1]):
            assert torch.allclose(stacked.weight.grad[p].T, mlp[2 * number].weight.grad, atol=1e-4)
            assert torch.allclose(stacked.bias.grad[p, 0], mlp[2 * number].bias.grad, atol=1e-4)


def test_groups_of_known_size_give_the_same_logits(population, monkeypatch):
    observation, ids = batch()
    exact = population(observation, ids)
    monkeypatch.setattr("brdiv.grouped.group", group_in_blocks)
    assert torch.allclose(population(observation, ids), exact, atol=1e-6)


def test_every_actor_starts_orthogonal_and_near_uniform():
    population = Population(K, D, A, hidden=[32, 32])
    weight = population.layers[1].weight
    for own in weight:
        assert torch.allclose(own @ own.T, 2 * torch.eye(32), atol=1e-4)
    assert not torch.allclose(weight[0], weight[1])
    probabilities = population(*batch()).softmax(-1)
    assert (probabilities - 1 / A).abs().max() < 0.05


def test_sampling_follows_the_probabilities(generator):
    logits = torch.tensor([0.1, 0.2, 0.3, 0.4]).log().expand(200_000, 4)
    shares = torch.bincount(sample(logits, generator), minlength=4) / 200_000
    assert torch.allclose(shares, torch.tensor([0.1, 0.2, 0.3, 0.4]), atol=0.005)


def test_sampling_is_repeatable_and_leaves_global_randomness_alone(population):
    observation, ids = batch()
    before = torch.get_rng_state()
    draws = [population.act(observation, ids, torch.Generator().manual_seed(1)) for _ in range(2)]
    assert torch.equal(*draws)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("kind", [Critic, SeparateCritics])
def test_the_critic_tells_pairs_apart(kind):
    critic = kind(K, D, hidden=[16])
    observation = torch.randn(1, 2, D).expand(K * K, 2, D)
    pairs = torch.cartesian_prod(torch.arange(K), torch.arange(K))
    assert critic(observation, pairs).shape == (K * K,)
    assert len(critic(observation, pairs).unique()) == K * K


@pytest.mark.parametrize("hidden", [[], [16, 0]])
def test_layers_without_neurons_are_refused(hidden):
    with pytest.raises(ValueError, match="hidden"):
        Population(K, D, A, hidden)


def test_copies_do_not_share_weights(population):
    other = copy.deepcopy(population)
    with torch.no_grad():
        other.layers[0].weight.zero_()
    assert population.layers[0].weight.abs().sum() > 0


def test_values_are_the_critics_where_they_are_wanted(generator):
    critic = Critic(3, 4, [8])
    observation = torch.rand(5, 8, 2, 4, generator=generator)
    ids = torch.randint(3, (5, 8, 2), generator=generator)
    wanted = torch.rand(5, 8, generator=generator) < 0.3
    values = values_where(wanted, [critic, critic], observation, ids)[0]
    assert torch.allclose(values[wanted], critic(observation, ids)[wanted], atol=1e-6)


def test_every_policy_is_asked_about_every_sample(generator):
    population = Population(3, 4, 5, [8, 8], gain=1.0)
    observation = torch.rand(6, 7, 2, 4, generator=generator)
    action = torch.randint(5, (6, 7, 2), generator=generator)
    log_probs = population.log_probs_of_all(observation, action)
    assert log_probs.shape == (6, 7, 2, 3)
    for k in range(3):
        own = population(observation, torch.full((6, 7, 2), k)).log_softmax(-1)
        assert torch.allclose(log_probs[..., k], own.gather(-1, action.unsqueeze(-1)).squeeze(-1), atol=1e-6)


@pytest.mark.parametrize("ids", [[[4, 0]], [[0, 4]], [[-1, 0]], [[0]], [[0.0, 1.0]]])
def test_ids_of_nobody_are_refused_by_a_population_that_is_used(ids):
    """With K = 4, teammate 4 would silently be best response 0."""
    population = Population(4, 6, 5, [8]).eval()
    with pytest.raises(ValueError, match="ids"):
        population.act(torch.rand(1, 2, 6), torch.tensor(ids))
    population.act(torch.rand(1, 2, 6), torch.tensor([[3, 0]]))


def test_separate_critics_are_a_network_for_each_teammate():
    """Values and gradients are those of ordinary networks; what one teammate's learns leaves the others alone."""
    torch.manual_seed(0)
    critics = SeparateCritics(K, D, hidden=[16, 8])
    observation, ids = torch.randn(20, 4, 2, D), torch.randint(K, (20, 4, 2))
    values = critics(observation, ids)
    seen = torch.cat([observation.flatten(-2), nn.functional.one_hot(ids, K).flatten(-2)], -1)
    expected = torch.empty(20, 4)
    for row in range(20):
        for step in range(4):
            x, i = seen[row, step], int(ids[row, step, 0])
            for number, layer in enumerate(critics.layers):
                x = x @ layer.weight[i] + layer.bias[i, 0]
                x = x.relu() if number < 2 else x
            expected[row, step] = x
    assert torch.allclose(values, expected, atol=1e-5)
    values[ids[..., 0] == 1].sum().backward()
    for layer in critics.layers:
        assert layer.weight.grad[1].abs().sum() > 0
        assert layer.weight.grad[[0, 2]].abs().sum() == 0
