import pytest
import torch

from brdiv.games import Reaching
from tests.small_runs import train

WARNING = "brdiv: the team reward was"


class Pointless(Reaching):
    """Cooperative Reaching in which nothing is ever paid, as a sum of opposed rewards would be."""

    def step(self, state, action):
        after, reward, over = super().step(state, action)
        return after, torch.zeros_like(reward), over


class Taxed(Reaching):
    """Every step costs the same, and no more is ever paid."""

    def step(self, state, action):
        after, reward, over = super().step(state, action)
        return after, torch.full_like(reward, -0.5), over


class Varied(Reaching):
    """Whoever stands further right is paid more."""

    def step(self, state, action):
        after, _, over = super().step(state, action)
        return after, after["positions"][:, 0, 0].float(), over


def warnings_of(tmp_path, capsys, *arguments):
    train(tmp_path / "run", "--rewards.after", "1000", *arguments, steps=128 * 12)
    return [line for line in capsys.readouterr().err.splitlines() if WARNING in line]


@pytest.mark.parametrize(("game", "reward"), [("Pointless", "0"), ("Taxed", "-0.5")])
def test_a_team_reward_that_never_varies_is_mentioned_once(game, reward, tmp_path, capsys):
    (line,) = warnings_of(tmp_path, capsys, "--data.game", f"{__name__}.{game}")
    assert f"was {reward} all through 1,024 steps" in line  # the first update after a thousand steps


def test_a_reward_that_varies_is_not(tmp_path, capsys):
    assert warnings_of(tmp_path, capsys, "--data.game", f"{__name__}.Varied") == []


@pytest.mark.parametrize("after", ["0", "2000"])
def test_nothing_is_said_too_early_or_if_not_wanted(after, tmp_path, capsys):
    assert warnings_of(tmp_path, capsys, "--data.game", f"{__name__}.Pointless", "--rewards.after", after) == []
