import pytest
import torch

from brdiv.training.returns import is_bootstrapped, n_step_returns

GAMMA = 0.9


def literal_returns(reward, next_value, terminated, truncated):
    """Algorithm 2's backward loop for one row, with the time limit bootstrapped instead of treated as an end."""
    steps = len(reward)
    target = next_value[-1]
    result = [0.0] * steps
    for t in range(steps - 1, -1, -1):
        if terminated[t]:
            target = reward[t]
        elif truncated[t]:
            target = reward[t] + GAMMA * next_value[t]
        else:
            target = reward[t] + GAMMA * target
        result[t] = target
    return result


def test_agrees_with_the_literal_loop(generator):
    rows, steps = 200, 8
    reward, next_value = torch.rand(2, rows, steps, generator=generator, dtype=torch.float64)
    end = torch.randint(5, (rows, steps), generator=generator)
    terminated, truncated = end == 0, end == 1
    returns = n_step_returns(reward, next_value, terminated, truncated, GAMMA)
    for row in range(rows):
        expected = literal_returns(*(x[row].tolist() for x in (reward, next_value, terminated, truncated)))
        assert returns[row].tolist() == pytest.approx(expected)


def row(*values, dtype=torch.float):
    return torch.tensor([values], dtype=dtype)


NEVER = row(0, 0, 0, dtype=torch.bool)


def test_without_an_end_the_last_value_carries_the_window_on():
    returns = n_step_returns(row(1, 0, 2), row(50, 60, 10), NEVER, NEVER, 0.5)
    assert returns.tolist() == [[1 + 0.25 * 2 + 0.125 * 10, 0.5 * 2 + 0.25 * 10, 2 + 0.5 * 10]]


def test_a_terminated_episode_is_worth_nothing_more():
    ends = row(0, 1, 0, dtype=torch.bool)
    returns = n_step_returns(row(1, 3, 2), row(50, 60, 10), ends, NEVER, 0.5)
    assert returns.tolist() == [[1 + 0.5 * 3, 3, 2 + 0.5 * 10]]


def test_a_time_limit_is_bootstrapped_from_the_true_next_observation():
    ends = row(0, 1, 0, dtype=torch.bool)
    returns = n_step_returns(row(1, 3, 2), row(50, 60, 10), NEVER, ends, 0.5)
    assert returns.tolist() == [[1 + 0.5 * (3 + 0.5 * 60), 3 + 0.5 * 60, 2 + 0.5 * 10]]


def test_window_of_one_step():
    assert n_step_returns(row(1), row(4), NEVER[:, :1], NEVER[:, :1], 0.5).tolist() == [[3]]


def test_values_are_read_only_where_play_is_cut(generator):
    reward, value = torch.rand(2, 50, 8, generator=generator)
    end = torch.randint(5, (50, 8), generator=generator)
    terminated, truncated = end == 0, end == 1
    where = is_bootstrapped(truncated)
    assert 0.1 < where.float().mean() < 0.5
    poisoned = value.where(where, torch.nan)
    assert torch.equal(
        n_step_returns(reward, poisoned, terminated, truncated, GAMMA),
        n_step_returns(reward, value, terminated, truncated, GAMMA),
    )
