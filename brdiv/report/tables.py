"""The page's tables as files, to quote or to compute with: Markdown, LaTeX and CSV."""

import csv
import io
import math
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, count
from pathlib import Path

from brdiv.evaluation.written import TextTable, as_markdown, number, write_table
from brdiv.report.charts import TITLES, scenarios
from brdiv.report.claims import Finding
from brdiv.report.results import GameResults
from brdiv.report.sections import GameSection, MethodRow
from brdiv.runs.whole import write_whole
from brdiv.text import for_cell, plain


def write_tables(sections: Sequence[GameSection], findings: Sequence[Finding], folder: Path) -> None:
    """Write every table as `<name>.md`, `.tex` and `.csv`, and all of them as one page, `tables.md`."""
    folder.mkdir(parents=True, exist_ok=True)
    tables: dict[str, TextTable] = {}
    for wanted, table in all_tables(sections, findings):
        tables[file_name(wanted, tables)] = table
    for name, table in tables.items():
        write_table(table, folder, name)
        write_whole(folder / f"{name}.csv", as_csv(table).encode())
    write_whole(folder / "tables.md", "\n".join(map(as_markdown, tables.values())).encode())


def all_tables(sections: Sequence[GameSection], findings: Sequence[Finding]) -> Iterator[tuple[str, TextTable]]:
    """Yield every table with a name for its files, which may hold whatever the study's files say."""
    yield "claims", claims_table(findings)
    for section in sections:
        game = section.results.game
        yield f"{game}-methods", methods_table(section)
        if section.learner_rows:
            yield f"{game}-learners", learners_table(section)
        for number_of, learner in enumerate(section.results.learners):
            for scenario in scenarios(section.results, learner):
                part = f"-{learner}" if number_of else ""
                yield f"{game}-{scenario}{part}", strangers_table(section.results, scenario, learner)


def file_name(wanted: str, taken: Collection[str]) -> str:
    """Reduce a name to what leads to no other folder, and is no other table's.

    >>> file_name("reaching-methods", ()), file_name("../x-methods", ()), file_name("a/b", {"a-b"})
    ('reaching-methods', '-x-methods', 'a-b-2')
    """
    name = re.sub(r"[^\w.+-]", "-", wanted).lstrip(".")
    numbered = (f"{name}-{number}" for number in count(2))
    return next(free for free in chain([name], numbered) if free not in taken)


def claims_table(findings: Sequence[Finding]) -> TextTable:
    """What became of every claim of the paper that the study could test."""
    rows = [[f.claim, f.game, f.source, f.found, f.verdict] for f in findings]
    return TextTable("the paper's claims", ["claim", "game", "where", "found here", "verdict"], rows)


def methods_table(section: GameSection) -> TextTable:
    """Sum up the methods of a game, a row each."""
    steps = {row.label: row for row in section.steps}
    rows = []
    for row in section.rows:
        took = steps.get(row.label)
        mean = math.nan if took is None or took.mean is None else took.mean
        estimates = [str(row.heuristics), str(row.generated)]
        rows.append([plain(row.label), f"{row.seeds} of {row.planned}", *estimates, *figures(row), number(mean, ".1f")])
    head = ["method", "seeds", "IQM, heuristics", "IQM, generated", "BRDiv", "diagonal", "off-diagonal"]
    title = f"{section.results.title}: populations, and PLASTIC with strangers; 95 % intervals over seeds"
    return TextTable(title, [*head, "none alike", "own strategies", "steps"], rows)


def learners_table(section: GameSection) -> TextTable:
    """Compare the learners of a game, PLASTIC and those that were trained, a row for each method's."""
    rows = []
    for row in section.learner_rows:
        share = "-" if row.share is None else f"{row.share:.1%}"
        rows.append(
            [plain(row.label), plain(row.learner), str(row.seeds), str(row.heuristics), share, str(row.generated)]
        )
    head = ["prepared by", "learner", "seeds", "IQM, heuristics", "share of what is possible", "IQM, generated"]
    return TextTable(f"{section.results.title}: learners with strangers; 95 % intervals over seeds", head, rows)


def figures(row: MethodRow) -> list[str]:
    """Write a method's diversity, and in how many seeds all teams differ."""
    values = [(row.brdiv, ".2f"), (row.diagonal, ".3f"), (row.off_diagonal, ".3f")]
    shown = [number(math.nan if value is None else value, form) for value, form in values]
    return [*shown, str(row.complete), "-" if row.distinct is None else str(row.distinct)]


def strangers_table(results: GameResults, scenario: str, learner: str) -> TextTable:
    """Mean returns with their intervals, a row per stranger, or per method that generated them, a column per method."""
    evaluation = results.evaluation(scenario, learner)
    assert evaluation is not None
    rows = [
        [plain(task), *(str(evaluation.cell_estimate(method, task)) for method in evaluation.methods)]
        for task in evaluation.tasks
    ]
    title = f"{results.title}: mean return of {plain(learner)} {TITLES.get(scenario, scenario)}"
    return TextTable(title, ["teammate", *map(plain, evaluation.methods)], rows)


def as_csv(table: TextTable) -> str:
    r"""Write a table for a spreadsheet.

    >>> as_csv(TextTable("", ["method", "IQM"], [["=A", "0.5"]]))
    "method,IQM\n'=A,0.5\n"
    """
    text = io.StringIO()
    rows = ([for_cell(cell) for cell in row] for row in (table.head, *table.rows))
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
