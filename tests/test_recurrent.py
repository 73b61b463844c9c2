"""The learner's network: rows alone, literal loops, and gradients, all through the ends of episodes."""

import pytest
import torch
from torch import nn

from brdiv.errors import UserError
from brdiv.recurrent import RecurrentActorCritic, Seen

ROWS, STEPS, SIZE, ACTIONS = 5, 7, 6, 4


@pytest.fixture
def net():
    torch.manual_seed(0)
    net = RecurrentActorCritic(SIZE, ACTIONS, [10, 9], 8).double()
    for parameter in net.parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)
    return net


@pytest.fixture
def window():
    """What is seen, where episodes begin, and what is remembered."""
    torch.manual_seed(1)
    actions = torch.randint(ACTIONS + 1, (2, ROWS, STEPS))
    start = torch.rand(ROWS, STEPS) < 0.3
    start[0], start[1, 0], start[2, -1] = False, True, True
    observation = torch.randn(ROWS, STEPS, SIZE, dtype=torch.float64)
    return Seen(observation, *actions), start, torch.randn(ROWS, 8, dtype=torch.float64)


def slow(net, seen, start, memory):
    """One row, one step at a time, by torch's own cell; a literal reading of what the memory is."""
    cell = nn.GRUCell(net.hidden[-1], net.memory).double()
    cell.weight_ih, cell.bias_ih = net.input_gates.weight, net.input_gates.bias
    cell.weight_hh, cell.bias_hh = net.memory_gates.weight, net.memory_gates.bias
    rows = []
    for row in range(len(start)):
        remembered, steps = memory[row], []
        for step in range(start.shape[1]):
            if start[row, step]:
                remembered = torch.zeros_like(remembered)
            encoded = net.encode(Seen(*(part[row, step] for part in seen)))
            remembered = cell(encoded[None], remembered[None])[0]
            steps.append(net.heads(encoded, remembered))
        rows.append([torch.stack(parts) for parts in zip(*steps, strict=True)])
    return [torch.stack(parts) for parts in zip(*rows, strict=True)]


def test_a_window_equals_a_literal_loop_through_the_ends_of_episodes(net, window):
    for ours, theirs in zip(net(*window), slow(net, *window), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_a_batch_of_rows_equals_each_row_alone(net, window):
    seen, start, memory = window
    together = net(*window)
    for row in range(ROWS):
        one = slice(row, row + 1)
        alone = net(Seen(*(part[one] for part in seen)), start[one], memory[one])
        for ours, theirs in zip(alone, together, strict=True):
            torch.testing.assert_close(ours, theirs[one])


def test_a_window_equals_its_steps_one_by_one(net, window):
    seen, start, memory = window
    together = net(*window)
    for step in range(STEPS):
        memory = memory.masked_fill(start[:, step, None], 0.0)
        out = net.step(Seen(*(part[:, step] for part in seen)), memory)
        memory = out.memory
        for ours, theirs in zip(out, together, strict=True):
            torch.testing.assert_close(ours, theirs[:, step])


def test_gradients_through_a_window_are_those_of_the_literal_loop(net, window):
    seen, start, memory = window
    memory = memory.clone().requires_grad_()

    def gradients(outputs):
        logits, value, remembered = outputs
        loss = logits.sin().sum() + value.square().sum() + remembered.cos().sum()
        return torch.autograd.grad(loss, [memory, *net.parameters()])

    for ours, theirs in zip(
        gradients(net(seen, start, memory)), gradients(slow(net, seen, start, memory)), strict=True
    ):
        torch.testing.assert_close(ours, theirs)


def test_nothing_from_before_an_episode_reaches_it(net, window):
    seen, start, memory = window
    memory = memory.clone().requires_grad_()
    start = torch.zeros_like(start)
    start[:, 3] = True
    (before,) = torch.autograd.grad(net(seen, start, memory).value[:, 3:].sum(), memory)
    assert not before.any()


@pytest.mark.parametrize(("settings", "told"), [({"hidden": []}, "hidden is"), ({"memory": 0}, "memory is 0")])
def test_networks_without_neurons_are_refused(settings, told):
    with pytest.raises(UserError, match=told):
        RecurrentActorCritic(SIZE, ACTIONS, **settings)
