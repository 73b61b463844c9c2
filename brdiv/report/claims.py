"""How a claim is judged: by intervals over seeds, and never beyond what the seeds can tell."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from brdiv.evaluation.statistics import Estimate, difference
from brdiv.report.results import GameResults

HOLDS, FAILS, OPEN = "holds", "does not hold", "can't be told"
LEAST_SEEDS = 3
"""With fewer seeds a bootstrap's interval says nothing."""

OURS = "BRDiv"
BASELINES = ("Independent", "TrajeDi0", "TrajeDi025", "TrajeDi05", "TrajeDi075", "TrajeDi1", "AnyPlay")
"""Labels of the paper's baselines."""


class Finding(NamedTuple):
    """A claim, and what became of it here."""

    claim: str
    source: str  # where the paper says so
    game: str
    found: str
    verdict: str
    figure: str  # anchor of the section that shows it
    interval: Estimate | None = None  # what decided it, against ``bound``
    bound: float = 0.0


class Verdict(NamedTuple):
    """A verdict, the words for it, and the interval that decided."""

    verdict: str
    found: str
    interval: Estimate | None = None
    bound: float = 0.0


def unknown(why: str) -> Verdict:
    """Say why nothing can be said."""
    return Verdict(OPEN, why)


def our_label(results: GameResults) -> str | None:
    """Label of the method that maximises BRDiv; the game's own config where several do."""
    ours = [label for label, name in results.objectives().items() if name == OURS]
    base = results.methods.get("base")
    return base if base in ours else ours[0] if ours else None


def baselines(results: GameResults) -> tuple[list[str], list[str]]:
    """Labels of the paper's baselines in this study, and of those that are missing."""
    return [name for name in BASELINES if name in results.labels], [
        name for name in BASELINES if name not in results.labels
    ]


def judge(estimate: Estimate, bound: float = 0.0) -> str:
    """Whether something lies above a bound: by its whole interval, or it can't be told."""
    if np.isnan(estimate.low):
        return OPEN
    return HOLDS if estimate.low > bound else FAILS if estimate.high < bound else OPEN


def above_all(
    ours: np.ndarray, others: Mapping[str, np.ndarray], missing: Sequence[str], sign: float = 1.0, digits: int = 3
) -> Verdict:
    """Judge whether a method's scores ``[runs, tasks]`` lie above all others' (below, where ``sign`` is negative)."""
    enough = {label: scores for label, scores in others.items() if len(scores) >= LEAST_SEEDS and scores.size}
    if len(ours) < LEAST_SEEDS or not ours.size:
        return unknown(f"{len(ours)} seed{'s' * (len(ours) != 1)} of {OURS}: too few, {LEAST_SEEDS} are needed")
    missing = [*missing, *(label for label in others if label not in enough)]
    if not enough:
        return unknown("no baseline with enough seeds")
    gaps = {label: difference(sign * ours, sign * scores) for label, scores in enough.items()}
    verdicts = {label: judge(gap) for label, gap in gaps.items()}
    nearest = min(gaps, key=lambda label: gaps[label].value)
    won = [label for label, verdict in verdicts.items() if verdict == HOLDS]
    lost = [label for label, verdict in verdicts.items() if verdict == FAILS]
    word = "above" if sign > 0 else "below"
    found = f"{word} {len(won)} of {len(gaps)} baselines"
    found += f", and on the other side of {listed(lost)}" if lost else ""
    gap = gaps[nearest]
    found += f"; nearest: {nearest}, by {gap.value:.{digits}f} [{gap.low:.{digits}f}, {gap.high:.{digits}f}]"
    found += f"; not compared with {listed(missing)}" if missing else ""
    verdict = FAILS if lost else HOLDS if len(won) == len(gaps) and not missing else OPEN
    return Verdict(verdict, found, gap)


def opposite(verdict: str) -> str:
    """Turn a verdict round."""
    return {HOLDS: FAILS, FAILS: HOLDS}.get(verdict, verdict)


def listed(names: Sequence[str]) -> str:
    """Write names as a sentence does.

    >>> listed(["H1", "H2", "H3"])
    'H1, H2 and H3'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "none"
