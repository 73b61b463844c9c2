"""What is printed in the terminal as a table."""

import csv
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from torch import Tensor

from brdiv.evaluation.scores import Evaluation
from brdiv.evaluation.seeds import NOISE, SeedResult
from brdiv.evaluation.written import TextTable, markdown, possible_table, summary_table, teammate_table
from brdiv.metrics import best_response_diversity, mean_diagonal, mean_off_diagonal
from brdiv.text import for_cell, plain


def print_about(about: Mapping[str, Any]) -> None:
    """Print a population file's description of itself."""
    method, game = about.get("method", {}), about["game"]
    lines = {
        "game": describe_class(game),
        "method": describe_class(method) if method else "unknown",
        "teammates": about["n_types"],
        "hidden layers": " - ".join(map(str, about["hidden"])),
        "seed": about.get("seed", "unknown"),
        "trained for": f"{about['steps']:,} environment steps" if "steps" in about else "unknown",
        "written by": f"brdiv {about['version']}",
    }
    if not about.get("finished", True):
        lines["trained for"] += ", then interrupted"
    for name, value in lines.items():
        print(f"{name:>14}  {plain(value, 1000)}")


def describe_class(entry: Mapping[str, Any]) -> str:
    """Write a class with its settings as it would be called.

    >>> describe_class({"name": "BRDiv", "settings": {"cross_play_weight": 2.5}})
    'BRDiv(cross_play_weight=2.5)'
    """
    settings = ", ".join(f"{name}={value}" for name, value in entry.get("settings", {}).items())
    return f"{entry['name']}({settings})"


def print_cross_play(matrix: Tensor) -> None:
    """Print a cross-play matrix ``[K, K]`` and its summary."""
    table = Table(title="cross-play: mean returns", title_justify="left")
    table.add_column("teammate", justify="right")
    for j in range(len(matrix)):
        table.add_column(f"BR {j + 1}", justify="right")
    for i, row in enumerate(matrix.tolist()):
        cells = [f"[bold]{value:.3f}[/bold]" if i == j else f"{value:.3f}" for j, value in enumerate(row)]
        table.add_row(str(i + 1), *cells)
    console = Console()
    console.print(table)
    console.print(
        f"mean diagonal {mean_diagonal(matrix):.3f}, mean off-diagonal {mean_off_diagonal(matrix):.3f}, "
        f"BRDiv {best_response_diversity(matrix):.2f}",
        highlight=False,
    )


def print_methods(results: Iterable[tuple[str, SeedResult]], folder: Path) -> None:
    """Print one line per method once all of its seeds are in; write all as `compare.csv`, the table as `compare.md`."""
    console = Console(highlight=False)
    names = ("method", "seeds", "diagonal", "off-diagonal", "BRDiv", "groups", "strategies", "self-play steps")
    head = f"{names[0]:18} {names[1]:>5} " + " ".join(f"{name:>15}" for name in names[2:])
    console.print(head, style="bold", soft_wrap=True)
    lines, rows = [], []
    for method, group in itertools.groupby(results, key=lambda pair: pair[0]):
        seeds = [result for _, result in group]
        rows += [(method, *r) for r in seeds]
        label = seeds[0].label
        cells = [f"{spread([getattr(r, name) for r in seeds])}" for name in ("diagonal", "off_diagonal")]
        cells += [spread([r.brdiv for r in seeds], 1)]
        cells += [" ".join(str(r.groups) for r in seeds)]
        cells += [" ".join("-" if r.strategies is None else str(r.strategies) for r in seeds)]
        cells += [spread([r.length for r in seeds], 1)]
        line = f"{plain(label):18} {len(seeds):>5} " + " ".join(f"{cell:>15}" for cell in cells)
        console.print(escape(line), soft_wrap=True)
        lines.append(f"| {markdown(plain(label))} | {len(seeds)} | " + " | ".join(cells) + " |")
    lines = [f"| {' | '.join(names)} |", "|" + "---|" * len(names), *lines]
    (folder / "compare.md").write_text("\n".join(lines) + "\n")
    with (folder / "compare.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["method", *SeedResult._fields])
        writer.writerows([for_cell(value) for value in row] for row in rows)
    console.print(f"\ntable {folder}/compare.md, every seed {folder}/compare.csv")


def spread(values: Sequence[float], digits: int = 3) -> str:
    """Write the mean of some numbers, and how far from it the furthest is.

    >>> spread([0.9, 1.0, 1.1], 1)
    '1.0 +- 0.1'
    """
    middle = mean(values)
    return f"{middle:.{digits}f} +- {max(abs(value - middle) for value in values):.{digits}f}"


def print_evaluation(evaluation: Evaluation, summary: Sequence[Mapping[str, Any]]) -> None:
    """Print aggregates of every method, then its mean return with each teammate."""
    console = Console(highlight=False)
    table = summary_table(evaluation, summary)
    console.print(escape(table.title), style="bold")
    widths = (14, 5, 20, 20, 20, 7, 11, 6)
    for row in (table.head, *table.rows):
        name, *figures = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        line = " ".join([name.strip().ljust(widths[0]), *figures])
        console.print(escape(line), style="bold" if row is table.head else None, soft_wrap=True)
    if evaluation.self_play:
        console.print("known: how often the learner names its own teammates rightly by the end of an episode")
    console.print()
    console.print(as_rich(teammate_table(evaluation)))
    possible = possible_table(evaluation, summary)
    if possible is not None:
        console.print(as_rich(possible))
    correlation = evaluation.correlation()
    if not math.isnan(correlation):
        console.print(f"correlation of BRDiv with return with strangers, over runs: {correlation:.2f}")
    if any(entry["seeds"] == 1 for entry in summary):
        console.print("one seed tells nothing about others: no interval; train more with `brdiv seeds`")


def as_rich(table: TextTable) -> Table:
    """Make a table for the terminal."""
    shown = Table(title=escape(table.title), title_justify="left")
    for number, name in enumerate(table.head):
        shown.add_column(escape(name), justify="right" if number else "left")
    for row in table.rows:
        shown.add_row(*map(escape, row))
    return shown


def print_seeds(results: Iterable[SeedResult]) -> list[SeedResult]:
    """Print one line per seed as results come in, then what they amount to."""
    console = Console(highlight=False)
    names = ("groups", "strategies", "diagonal", "off-diag.", "BRDiv", "SP steps", "with noise")
    console.print(f"{'seed':>4} " + " ".join(f"{name:>10}" for name in names), style="bold", soft_wrap=True)
    done = []
    for r in results:
        strategies = "-" if r.strategies is None else f"{r.strategies} of {r.n_types}"
        numbers = f"{r.diagonal:>10.3f} {r.off_diagonal:>10.3f} {r.brdiv:>10.2f} {r.length:>10.2f} {r.noisy:>10.3f}"
        line = f"{r.seed:>4} {f'{r.groups} of {r.n_types}':>10} {strategies:>10} {numbers}"
        console.print(line, soft_wrap=True)
        done.append(r)
    told = f"{sum(r.complete for r in done)} of {len(done)} seeds gave teams none of which can stand in for another"
    if any(r.strategies is not None for r in done):
        own = sum(r.strategies == r.n_types for r in done)
        told += f"; {own} of {len(done)} gave every teammate a strategy of its own"
    console.print(f"\n{told}", style="bold", soft_wrap=True)
    for name, (text, worst) in SEED_SUMMARY.items():
        values = [getattr(r, name) for r in done]
        console.print(f"  {text}: {mean(values):.3f} ({worst.__name__} {worst(values):.3f})", soft_wrap=True)
    return done


SEED_SUMMARY: dict[str, tuple[str, Callable[[list[float]], float]]] = {
    "diagonal": ("mean diagonal", min),
    "off_diagonal": ("mean off-diagonal", max),
    "length": ("steps of a self-play episode", max),
    "noisy": (f"return with the own teammate, {NOISE:.0%} of whose actions are random", min),
}
