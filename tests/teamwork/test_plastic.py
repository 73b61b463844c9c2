"""PLASTIC's belief against a loop over rows, and whether it recognises who it plays with."""

import pytest
import torch

from brdiv.games import Reaching, SeatView
from brdiv.nets import Population
from brdiv.teamwork import LearnedPolicies, Plastic, play
from brdiv.teamwork.plastic import FLOOR, update_belief


def literal(belief, probability, eta):
    """Row by row, type by type, as the paper writes it."""
    rows = []
    for b, p in zip(belief.tolist(), probability.tolist(), strict=True):
        new = [each * (1 - eta * (1 - likely)) for each, likely in zip(b, p, strict=True)]
        rows.append([each / sum(new) for each in new])
    return torch.tensor(rows, dtype=torch.float64)


@pytest.mark.parametrize("eta", [0.1, 0.5, 1.0])
def test_the_update_is_the_papers(eta, generator):
    belief = torch.rand(50, 4, generator=generator, dtype=torch.float64).softmax(-1)
    probability = torch.rand(50, 4, generator=generator, dtype=torch.float64)
    assert torch.allclose(update_belief(belief, probability.log(), eta), literal(belief, probability, eta), atol=1e-8)


@pytest.mark.parametrize("eta", [0.5, 1.0])
def test_belief_is_never_nan_even_for_what_all_call_impossible(eta):
    belief = torch.tensor([[0.25] * 4, [1.0 - 3 * FLOOR, FLOOR, FLOOR, FLOOR]])
    for log_prob in (
        torch.full((2, 4), -torch.inf),
        torch.full((2, 4), -1e30),
        torch.tensor([[-1e5, 0.0, -9.0, -1e9]] * 2),
    ):
        for _ in range(100):
            belief = update_belief(belief, log_prob, eta)
            assert belief.isfinite().all()
            assert torch.allclose(belief.sum(-1), torch.ones(2))
            assert (belief > 0).all()


def test_what_all_call_all_but_impossible_still_tells_types_apart():
    log_prob = torch.tensor([[-300.0, -200.0, -300.0]])
    assert update_belief(torch.full((1, 3), 1 / 3), log_prob, 1.0).argmax() == 1


def test_a_type_that_was_ruled_out_can_come_back():
    belief = torch.full((1, 2), 0.5)
    for _ in range(50):
        belief = update_belief(belief, torch.tensor([[0.0, -50.0]]), 1.0)
    for _ in range(3):
        belief = update_belief(belief, torch.tensor([[-50.0, 0.0]]), 1.0)
    assert belief[0, 1] > 0.99


CORNERS = [(0, 0), (4, 4), (0, 4), (4, 0)]


def corner_seekers(certainty=5.0):
    """A population that was made by hand: type k and its best response walk to corner k, nearly always."""
    population = Population(4, 50, 5, [50])
    with torch.no_grad():
        for layer in population.layers:
            layer.weight.zero_()
            layer.bias.zero_()
        population.layers[0].weight[:] = torch.eye(50)
        for k, (gx, gy) in enumerate(CORNERS):
            for seat in (0, 1):
                for cell in range(25):
                    x, y = cell // 5, cell % 5
                    action = 1 if gx < x else 3 if gy < y else 2 if gx > x else 4 if gy > y else 0
                    population.layers[1].weight[seat * 4 + k, cell, action] = certainty
    return population


def test_it_recognises_its_own_teammates_and_meets_them(generator):
    population, rows = corner_seekers(), 2000
    types = torch.arange(4).repeat(rows // 4)
    pairs = torch.stack([types, torch.zeros_like(types)], -1)
    right = []

    def watch(turn):
        if turn.step:
            right.append((turn.memory[1]["belief"].argmax(-1) == types).float().mean())

    learners = LearnedPolicies(population), Plastic(population)
    played = play(Reaching(), *learners, pairs, generator, watch=[watch])
    assert right[-1] > 0.95
    assert right[3] > right[0]
    assert played.returns.mean() > 0.8


def test_it_starts_out_undecided_and_breaks_ties_at_random(generator):
    population = corner_seekers()
    plastic = Plastic(population)
    rows = torch.zeros(400, dtype=torch.long)
    game = Reaching()
    view = torch.tensor([[2, 2, 2, 2]]).repeat(400, 1)
    seen = SeatView(view, game.encode(view))
    memory = plastic.begin(rows, seen, generator)
    assert torch.allclose(memory["belief"], torch.full((400, 4), 0.25))
    actions = plastic.act(rows, seen, memory, generator)
    # Corners (0, 0) and (0, 4) need left first, (4, 4) right, (4, 0) up.
    counts = torch.bincount(actions, minlength=5) / 400
    assert counts[1] == pytest.approx(0.5, abs=0.1)
    assert counts[2] == pytest.approx(0.25, abs=0.1)
    assert counts[3] == pytest.approx(0.25, abs=0.1)


def test_impossible_rates_are_refused():
    with pytest.raises(ValueError, match="eta is 0"):
        Plastic(corner_seekers(), eta=0.0)
