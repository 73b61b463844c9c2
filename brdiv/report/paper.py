"""What the paper claims (Rahman et al., 2023), each claim with the test that a study puts it to."""

from collections.abc import Sequence
from typing import NamedTuple

from brdiv.report.claims import OURS, Finding, Verdict, our_label, unknown
from brdiv.report.results import GENERATED, HEURISTICS, GameResults
from brdiv.report.trials import (
    Trial,
    above_independent,
    best,
    best_with_each,
    correlated,
    distinct_teams,
    more_diverse,
    narrowest,
    not_best,
    quickest,
    slow_teams_help,
)

TABLE_2 = {
    "BRDiv": "17-20", "AnyPlay": "30-35", "TrajeDi0": "18-25", "TrajeDi025": "65-158", "TrajeDi05": "85-233",
    "TrajeDi075": "53-161", "TrajeDi1": "20-28", "Independent": "18-29",
}  # fmt: skip
"""The paper's steps to solve Simple Cooking in self-play, by label."""


class Claim(NamedTuple):
    """A claim about one game, and its test."""

    game: str  # class of the game
    text: str
    source: str
    figure: str  # section of the report that shows it
    test: Trial


CLAIMS = (
    Claim("Reaching", "With heuristics, BRDiv's learner is better than all baselines'.", "Figure 4a", "strangers",
          best(HEURISTICS)),
    Claim("LBF", "With heuristics, BRDiv's learner is better than all baselines'.", "Figure 4b", "strangers",
          best(HEURISTICS)),
    Claim("Cooking", "With heuristics, BRDiv's learner is not the best.", "Figure 4c", "strangers",
          not_best(HEURISTICS)),
    Claim("Reaching", "With generated teammates, BRDiv's learner is better than all baselines'.", "Figure 4d",
          "strangers", best(GENERATED)),
    Claim("LBF", "With generated teammates, BRDiv's learner is better than all baselines'.", "Figure 4e", "strangers",
          best(GENERATED)),
    Claim("Cooking", "With generated teammates, BRDiv's learner is not the best.", "Figure 4f", "strangers",
          not_best(GENERATED)),
    Claim("Reaching", "It is the best with every heuristic but H8 and H10.", "Figure 5a", "teammates",
          best_with_each("H8", "H10")),
    Claim("LBF", "It is the best with every heuristic but H2.", "Figure 5b", "teammates", best_with_each("H2")),
    Claim("Reaching", "Its interval is narrower than the baselines'.", "Section 6.4", "strangers", narrowest),
    Claim("LBF", "Its interval is narrower than the baselines'.", "Section 6.4", "strangers", narrowest),
    Claim("Reaching", "BRDiv and return with heuristics correlate strongly (paper: r = 0.77).", "Section 6.4",
          "diversity", correlated),
    Claim("LBF", "BRDiv and return with heuristics correlate strongly (paper: r = 0.80).", "Section 6.4", "diversity",
          correlated),
    Claim("Reaching", "Optimising BRDiv avoids superficial differences, which baselines have.", "Figures 7, 8",
          "populations", more_diverse),
    Claim("Reaching", "BRDiv's four teammates go to the four corners.", "Figure 8", "populations",
          distinct_teams("a corner for each teammate")),
    Claim("LBF", "BRDiv's six teammates take the foods in the six orders.", "Figure 9", "populations",
          distinct_teams("an order for each teammate")),
    Claim("Cooking", "BRDiv's teams are the quickest in self-play (paper: 17-20 steps).", "Table 2", "steps", quickest),
    Claim("Cooking", "Slower teams prepare better for heuristics.", "Section 6.5", "steps", slow_teams_help),
)  # fmt: skip
ALL_GAMES = "all"
OVER_ALL = "BRDiv's learner is better than Independent's with all but three of all games' heuristics."


def findings(games: Sequence[GameResults]) -> list[Finding]:
    """Put every claim of the paper to its test, on the first game of the study that it is about."""
    by_title: dict[str, GameResults] = {}
    for results in games:
        by_title.setdefault(results.title, results)
    found = [judged(claim, by_title.get(claim.game)) for claim in CLAIMS]
    paper_games = [by_title[title] for title in dict.fromkeys(claim.game for claim in CLAIMS) if title in by_title]
    return [*found, finding(ALL_GAMES, OVER_ALL, "Section 6.4", "teammates", above_independent(paper_games))]


def judged(claim: Claim, results: GameResults | None) -> Finding:
    """Put one claim to its test."""
    if results is None:
        return finding(claim.game, claim.text, claim.source, "", unknown("the game is not part of this study"))
    ours = our_label(results)
    verdict = claim.test(results, ours) if ours else unknown(f"no run of {OURS} has finished")
    return finding(claim.game, claim.text, claim.source, f"{claim.figure}-{results.game}", verdict)


def finding(game: str, text: str, source: str, figure: str, verdict: Verdict) -> Finding:
    """Write down what became of a claim."""
    return Finding(text, source, game, verdict.found, verdict.verdict, figure, verdict.interval, verdict.bound)
