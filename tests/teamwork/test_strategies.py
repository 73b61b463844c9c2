import torch

from brdiv.games import LBF, Reaching
from brdiv.teamwork import NoisyPolicies, RandomPolicies, cross_play, play, team_strategies
from tests.teamwork.test_play import CornerSeekers, Idle


def test_teams_are_told_apart_by_what_they_mostly_do(generator):
    teams = team_strategies(Reaching(), CornerSeekers(), CornerSeekers(), 20, generator)
    assert [team.name for team in teams] == ["meet on 0, 0", "meet on 4, 4", "meet on 0, 4", "meet on 4, 0"]
    assert [team.share for team in teams] == [1.0] * 4


def test_teams_that_fail_have_no_strategy(generator):
    assert team_strategies(Reaching(), Idle(), Idle(), 20, generator) == [None] * 3


def test_games_that_tell_no_strategies_apart_have_none(generator):
    assert team_strategies(LBF(size=9, foods=6, horizon=3), Idle(), Idle(), 2, generator) is None


def test_noise_replaces_as_many_actions_as_it_says(generator):
    noisy = NoisyPolicies(Idle(), 0.4, n_actions=5)
    which = torch.zeros(20_000, dtype=torch.long)
    action = noisy.act(which, None, None, generator)
    assert 0.31 < (action != 0).float().mean() < 0.33  # a fifth of the random ones are to stay, too
    assert len(action.unique()) == 5


def test_without_noise_the_policies_play_as_they_are(generator):
    own = torch.arange(4)[:, None].expand(-1, 2)
    played = play(Reaching(), NoisyPolicies(CornerSeekers(), 0.0, 5), CornerSeekers(), own, generator)
    assert played.returns.tolist() == [1.0, 1.0, 0.75, 0.75]
    lengths = [
        cross_play(Reaching(), NoisyPolicies(CornerSeekers(), share, 5), CornerSeekers(), 100, generator).lengths
        for share in (0.0, 0.4)
    ]
    as_they_are, noisy = (length.diagonal().float().mean() for length in lengths)
    assert noisy > 1.3 * as_they_are


def test_a_lucky_win_is_no_strategy(generator):
    assert team_strategies(Reaching(), RandomPolicies(5), RandomPolicies(5), 1000, generator) == [None]


def test_many_episodes_are_played_in_parts(generator):
    game = Reaching()
    game.most_rows = 7
    teams = team_strategies(game, CornerSeekers(), CornerSeekers(), 5, generator)
    assert [team.name for team in teams] == ["meet on 0, 0", "meet on 4, 4", "meet on 0, 4", "meet on 4, 0"]
