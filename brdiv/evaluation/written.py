"""Tables of an evaluation as cells, for the terminal, and written as Markdown and LaTeX."""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from brdiv.evaluation.bounds import is_hopeless
from brdiv.evaluation.scores import Evaluation
from brdiv.text import plain

MARKDOWN = re.compile(r"[\\`*_|<>~#]|(?<=\])\(")
LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
}  # fmt: skip


class TextTable(NamedTuple):
    """A table of text: the first column names things, the others hold figures."""

    title: str
    head: list[str]
    rows: list[list[str]]


def summary_table(evaluation: Evaluation, summary: Sequence[Mapping[str, Any]]) -> TextTable:
    """Aggregates, a row per method."""
    several = any(entry["seeds"] > 1 for entry in summary)
    own = {entry.method for entry in evaluation.self_play}
    who = "PLASTIC" if own.issuperset(evaluation.methods) else "learners"
    title = f"{evaluation.game}: {who} with strangers, {'95 % intervals over seeds' if several else 'one seed'}"
    names = ("IQM return", "mean return", f"robustness ({evaluation.gamma:g})")
    rows = []
    for entry in summary:
        quickest, slowest = entry["self_play_steps"]
        estimates = [str(entry[name]) for name in ("iqm", "mean", "robustness")]
        steps = "-" if math.isnan(quickest) else f"{quickest:.1f}-{slowest:.1f}"
        figures = [number(entry["brdiv"], ".2f"), steps, number(entry["recognised"], ".1%")]
        rows.append([plain(entry["method"]), str(entry["seeds"]), *estimates, *figures])
    return TextTable(title, ["method", "seeds", *names, "BRDiv", "SP steps", "known"], rows)


def number(value: float, form: str) -> str:
    """Write a number, or a dash where there is none.

    >>> number(0.5, ".2f"), number(float("nan"), ".2f")
    ('0.50', '-')
    """
    return "-" if math.isnan(value) else format(value, form)


def possible_table(evaluation: Evaluation, summary: Sequence[Mapping[str, Any]]) -> TextTable | None:
    """Returns as a share of what is possible with each teammate, a column per method; None where no bound is known."""
    tasks = [task for task in evaluation.tasks if task in evaluation.bounds]
    if not tasks:
        return None
    rows = []
    for task in tasks:
        bound = evaluation.bounds[task]
        cells = [evaluation.cell_values(method, task) for method in evaluation.methods]
        told = [
            "seen" if not values else "-" if is_hopeless(bound) else f"{mean(values) / bound:.1%}" for values in cells
        ]
        rows.append([f"{plain(task)}{' (nobody can)' if is_hopeless(bound) else ''}", f"{bound:.3f}", *told])
    for name, form in (("share", ".1%"), ("regret", ".3f")):
        rows.append([f"mean {name}", "", *(number(entry.get(name, math.nan), form) for entry in summary)])
    head = ["teammate", "possible", *map(plain, evaluation.methods)]
    return TextTable("share of what is possible with each teammate", head, rows)


def teammate_table(evaluation: Evaluation) -> TextTable:
    """Mean returns, a row per teammate, or per method whose teammates they are, and a column per method."""
    rows = []
    for task in evaluation.tasks:
        cells = [evaluation.cell_values(method, task) for method in evaluation.methods]
        rows.append([plain(task), *(f"{mean(values):.3f}" if values else "seen" for values in cells)])
    return TextTable("mean return with each teammate", ["teammate", *map(plain, evaluation.methods)], rows)


def write_table(table: TextTable, folder: Path, name: str) -> None:
    """Write `<name>.md` and `<name>.tex`."""
    (folder / f"{name}.md").write_text(as_markdown(table), encoding="utf-8")
    (folder / f"{name}.tex").write_text(as_latex(table), encoding="utf-8")


def as_markdown(table: TextTable) -> str:
    r"""Write a table as Markdown, figures to the right, nothing in it taken for markup.

    >>> print(as_markdown(TextTable("of a_b", ["method", "IQM"], [["A|B", "0.5 [0.4, 0.6]"]])), end="")
    **of a\_b**
    <BLANKLINE>
    | method | IQM |
    |:---|---:|
    | A\|B | 0.5 [0.4, 0.6] |
    """
    head, *rows = ([markdown(cell) for cell in row] for row in (table.head, *table.rows))
    lines = [f"**{markdown(table.title)}**", "", f"| {' | '.join(head)} |", "|:---|" + "---:|" * (len(head) - 1)]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def as_latex(table: TextTable) -> str:
    r"""Write a table as a LaTeX `table` of the package booktabs, nothing in it taken for a command.

    >>> print(as_latex(TextTable("50 %", ["method", "IQM"], [["a_b", "0.5"]])), end="")
    % \usepackage{booktabs}
    \begin{table}
      \centering
      \caption{50 \%}
      \begin{tabular}{lr}
        \toprule
        method & IQM \\
        \midrule
        a\_b & 0.5 \\
        \bottomrule
      \end{tabular}
    \end{table}
    """
    head, *rows = (" & ".join(latex(cell) for cell in row) + r" \\" for row in (table.head, *table.rows))
    inner = [r"\toprule", head, r"\midrule", *rows, r"\bottomrule"]
    lines = [r"\centering", rf"\caption{{{latex(table.title)}}}"]
    lines += [rf"\begin{{tabular}}{{l{'r' * (len(table.head) - 1)}}}", *(f"  {line}" for line in inner)]
    lines += [r"\end{tabular}"]
    return "\n".join([r"% \usepackage{booktabs}", r"\begin{table}", *(f"  {x}" for x in lines), r"\end{table}"]) + "\n"


def markdown(text: str) -> str:
    """Escape what Markdown would take for markup; a link is no link without its round bracket."""
    return MARKDOWN.sub(lambda sign: "\\" + sign.group(), " ".join(text.split()))


def latex(text: str) -> str:
    """Escape what LaTeX would take for a command. Ranges get their longer dash."""
    escaped = "".join(LATEX.get(sign, sign) for sign in " ".join(text.split()))
    # A bracket that opens a row would be taken for an argument of the line break before it.
    escaped = f"{{}}{escaped}" if escaped.startswith("[") else escaped
    return re.sub(r"(?<=\d)-(?=\d)", "--", escaped)
