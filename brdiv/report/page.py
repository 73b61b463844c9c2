"""The page: sections, laid out by a template, as one file that needs nothing else."""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib import colormaps
from matplotlib.colors import to_hex

from brdiv.evaluation.statistics import Estimate
from brdiv.figures import method_colours
from brdiv.report.claims import FAILS, HOLDS, LEAST_SEEDS, OPEN, Finding
from brdiv.report.paper import ALL_GAMES, findings
from brdiv.report.results import read_game
from brdiv.report.sections import NOT_EVALUATED, GameSection, incomplete, make_section
from brdiv.report.settings import Resolve
from brdiv.report.study import DONE, Study, read_study, read_yaml
from brdiv.report.tables import write_tables
from brdiv.runs.whole import write_whole
from brdiv.version import __version__

SHADES = 21
"""How many colours matrices are painted with."""


def write_report(
    folder: Path,
    out: Path,
    resolve: Resolve = lambda game, method: None,
    animated: int = 1,
    allow_imports: bool = False,
    tell: Callable[[str], None] = lambda line: None,
    tables: Path | None = None,
) -> None:
    """Write the report of the study in ``folder`` to the file ``out``, which appears whole or not at all.

    ``resolve`` says what the shipped configs of a game and a method come to. ``tell`` is told how far it is. The page's
    tables are also written to the folder ``tables``, if one is given.
    """
    study = read_study(folder)
    games = []
    for game in study.games:
        tell(game)
        games.append(read_game(study, game))
    colours = method_colours(list(dict.fromkeys(label for results in games for label in results.labels)))
    sections = [make_section(results, colours, resolve, animated, allow_imports) for results in games]
    tested, untested = tested_claims(sections)
    write_whole(out, render(study, sections, tested, untested).encode())
    if tables is not None:
        write_tables(sections, tested, tables)


def tested_claims(sections: Sequence[GameSection]) -> tuple[list[Finding], list[Finding]]:
    """Put the paper's claims to the test; those about games of this study, and the others."""
    verdicts = findings([section.results for section in sections])
    titles = {ALL_GAMES, *(part.results.title for part in sections)}
    return [found for found in verdicts if found.game in titles], [f for f in verdicts if f.game not in titles]


def render(study: Study, sections: list[GameSection], tested: list[Finding], untested: list[Finding]) -> str:
    """Lay the sections out, with what became of the claims."""
    environment = Environment(
        loader=PackageLoader("brdiv.report", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters.update(
        svg=Markup, figure=figure, estimate=str, shade=shade, anchor=verdict_class, bar=interval_bar, span=span
    )
    counts = Counter(found.verdict for found in tested)
    missing = incomplete(sections)
    source = environment.loader
    assert source is not None
    parts = {name: Markup(source.get_source(environment, f"{name}")[0]) for name in ("style.css", "script.js")}
    return environment.get_template("page.html.jinja").render(
        study=study,
        name=str(study.given.get("name") or study.folder.resolve().name),
        sections=sections,
        findings=tested,
        untested=untested,
        counts=[(verdict, counts[verdict], agreeing(verdict, counts[verdict])) for verdict in (HOLDS, FAILS, OPEN)],
        missing=missing,
        unmeasured=sum(len(part.seeds) for part in missing if part.state == NOT_EVALUATED),
        done=sum(cell.state == DONE for cell in study.all_cells),
        runs=len(study.all_cells),
        taught=len(study.learner_cells),
        hours=sum(cell.seconds for cell in study.all_cells) / 3600,
        steps=sum(cell.steps for cell in study.all_cells if cell.state == DONE),
        shades=shades(),
        headlines=[headline(section) for section in sections],
        study_text=(study.folder / "study.yaml").read_text() if read_yaml(study.folder / "study.yaml") else "",
        versions=versions(study),
        written=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, brdiv {__version__}",
        style=parts["style.css"],
        script=parts["script.js"],
    )


def headline(section: GameSection) -> dict[str, Any]:
    """Say who is ahead with heuristics, or with generated teammates where a game has none."""
    for scenario, attribute in (("with heuristics", "heuristics"), ("with generated teammates", "generated")):
        rows = [row for row in section.rows if not np.isnan(getattr(row, attribute).value)]
        # Nobody is ahead by the luck of one seed, where others have more of them.
        rows = [row for row in rows if row.seeds >= LEAST_SEEDS] or rows
        if rows:
            rows.sort(key=lambda row: -getattr(row, attribute).value)
            best = [(row.label, row.colour, getattr(row, attribute)) for row in rows]
            return {"title": section.results.title, "scenario": scenario, "first": best[0], "rest": best[1:3]}
    return {"title": section.results.title, "scenario": "", "first": None, "rest": []}


def versions(study: Study) -> dict[str, str]:
    """Write what `versions.json` says, nested parts in a line each."""
    return {name: in_a_line(value) for name, value in study.versions.items()}


def in_a_line(value: Any) -> str:
    """Write something nested in a line; of several starts of a study, how many, and the last.

    >>> in_a_line({"cores": 2, "system": "Linux"}), in_a_line([{"started": "today", "torch": "2.13"}])
    ('cores 2, system Linux', '1: started today, torch 2.13')
    """
    if isinstance(value, dict):
        return ", ".join(f"{key} {inner}" for key, inner in value.items() if not isinstance(inner, dict))
    if isinstance(value, list) and value and isinstance(value[-1], dict):
        return f"{len(value)}: {in_a_line(value[-1])}"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def figure(value: float | None, digits: int = 2) -> str:
    """Write a number, or a dash where there is none."""
    return "\N{EN DASH}" if value is None or np.isnan(value) else f"{value:.{digits}f}"


def span(ends: tuple[float, float]) -> str:
    """Write a range in whole numbers.

    >>> span((17.2, 20.4)), span((4.9, 5.1))
    ('17\N{EN DASH}20', '5')
    """
    low, high = (f"{end:.0f}" for end in ends)
    return low if low == high else f"{low}\N{EN DASH}{high}"


def shade(value: float, top: float) -> int:
    """Say which of the colours of matrices a value gets."""
    return int(np.clip(round(value / max(top, 1e-9) * (SHADES - 1)), 0, SHADES - 1))


def shades() -> list[tuple[str, str]]:
    """Colours of matrices, lowest first, each with the ink that is readable on it."""
    return [
        (to_hex(colormaps["viridis"](at / (SHADES - 1))), "#fff" if at < SHADES / 2 else "#000") for at in range(SHADES)
    ]


def agreeing(verdict: str, count: int) -> str:
    """Write a verdict on so many claims.

    >>> agreeing("holds", 1), agreeing("holds", 2), agreeing("does not hold", 0)
    ('holds', 'hold', 'do not hold')
    """
    return verdict if count == 1 else verdict.replace("holds", "hold").replace("does", "do")


def verdict_class(verdict: str) -> str:
    """Name the style of a verdict."""
    return {HOLDS: "holds", FAILS: "fails"}.get(verdict, "open")


def interval_bar(estimate: Estimate, bound: float) -> Markup | str:
    """Draw an interval against a bound as a few strokes, as wide as a word."""
    if np.isnan(estimate.low):
        return ""
    ends = [estimate.low, estimate.high, bound]
    low, width = min(ends), max(ends) - min(ends) or 1.0
    at = {name: 4 + 72 * (x - low) / width for name, x in
          (("low", estimate.low), ("high", estimate.high), ("value", estimate.value), ("bound", bound))}  # fmt: skip
    return Markup(
        f'<svg class="bar" viewBox="0 0 80 14" aria-hidden="true"><path class="bound" d="M{at["bound"]:.1f} 1V13"/>'
        f'<path class="span" d="M{at["low"]:.1f} 7H{at["high"]:.1f}"/>'
        f'<circle cx="{at["value"]:.1f}" cy="7" r="3"/></svg>'
    )
