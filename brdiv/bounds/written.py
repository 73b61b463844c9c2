"""What was found of populations, on disk and in the terminal."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from brdiv.bounds.measure import ENOUGH, Bounds, Served
from brdiv.runs.whole import write_whole
from brdiv.text import for_cell, plain

FIELDS = ("population", "teams", "team", "return", "own_return", "share", "serves")
SUMMARY = ("population", "method", "seed", "teams", "judged", "needed", "enough", "too_short", "steps", "seconds")


class Judged(NamedTuple):
    """A population and what was found of it."""

    name: str  # of its files
    method: str
    seed: int
    bounds: Bounds


def write_shares(judged: Sequence[Judged], path: Path) -> None:
    """Write one line for every response and every team that it was trained with."""
    rows = []
    for entry in judged:
        for served in [*entry.bounds.served, *entry.bounds.whole]:
            names = named(served.group)
            for team, earned, share in zip(served.group, served.returns, served.shares, strict=True):
                own = entry.bounds.own[team]
                rows.append((entry.name, names, team + 1, earned, own, share, served.share >= ENOUGH))
    write_csv(path, FIELDS, rows)


def write_summary(judged: Sequence[Judged], path: Path) -> None:
    """Write one line for every population."""
    rows = [
        (e.name, e.method, e.seed, len(e.bounds.own), len(e.bounds.able), e.bounds.needed, e.bounds.enough,
         named(e.bounds.too_short), e.bounds.steps, round(e.bounds.seconds, 1))
        for e in judged
    ]  # fmt: skip
    write_csv(path, SUMMARY, rows)


def write_csv(path: Path, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Write a table, whole or not at all."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([for_cell(value) for value in row] for row in rows)
    write_whole(path, text.getvalue())


def named(group: Sequence[int]) -> str:
    """Write teams as they are counted in tables.

    >>> named((0, 2))
    '1 3'
    """
    return " ".join(str(team + 1) for team in group)


def print_bounds(entry: Judged, console: Console) -> None:
    """Print the matrix of a population, what it amounts to, and what can't be concluded."""
    bounds = entry.bounds
    table = Table(title=escape(f"{plain(entry.name)}: one response to two teams"), title_justify="left")
    for head in ("team", "own return", *(str(team + 1) for team in range(len(bounds.own)))):
        table.add_column(head, justify="right")
    for team, row in enumerate(bounds.matrix().tolist()):
        cells = ["-" if share != share else f"{share:.2f}" for share in row]
        cells = [f"[bold]{cell}[/bold]" if share >= ENOUGH else cell for cell, share in zip(cells, row, strict=True)]
        table.add_row(str(team + 1), f"{bounds.own[team]:.3f}", *cells)
    console.print(table)
    console.print(
        f"smaller share of what the two teams earn with their own best responses; from {ENOUGH:.2f} on (bold) one "
        "response serves both",
        soft_wrap=True,
    )
    took = f"this call took {bounds.seconds:.0f} s"  # of what an earlier one had trained it knows nothing
    told = f"{len(bounds.served)} responses trained for {bounds.steps:,} steps each; {took}"
    for line in [*conclusions(bounds), told]:
        console.print(escape(line), soft_wrap=True)


def conclusions(bounds: Bounds) -> list[str]:
    """Say what the shares amount to, and what they don't tell."""
    groups = ", ".join(f"{{{named(group)}}}" for group in bounds.groups)
    lines = [f"best responses needed: {count(bounds)} for {len(bounds.able)} teams; groups {groups}"]
    lines += [f"one response to all of {{{named(served.group)}}}: {whether(served)}" for served in bounds.whole]
    for team in sorted(set(range(len(bounds.own))) - set(bounds.able)):
        lines.append(
            f"team {team + 1} is left out: it earns {bounds.own[team]:.3f} with its own best response, and "
            f"{bounds.served[team].returns[0]:.3f} with the response that was trained to it alone"
        )
    if bounds.nearly:
        pairs = ", ".join(f"{{{named(pair)}}}" for pair in bounds.nearly)
        lines.append(f"nearly served by one response: {pairs}; longer training (--steps) may do it")
    if bounds.too_short:
        short = ", ".join(f"team {team + 1} {bounds.served[team].share:.2f}" for team in bounds.too_short)
        lines.append(
            f"WARNING: training was too short to conclude anything: a response to one team alone earns less than "
            f"{ENOUGH:.2f} of what its own does ({short}); raise --steps"
        )
    return lines


def count(bounds: Bounds) -> str:
    """Write how many responses are needed: a number, between which two it lies, or unknown after too short training."""
    if bounds.too_short:
        return "unknown"
    return str(bounds.needed) if bounds.needed == bounds.enough else f"{bounds.needed} to {bounds.enough}"


def whether(served: Served) -> str:
    """Say whether one response serves a whole group."""
    return f"it serves {'all of them' if served.share >= ENOUGH else 'not all'} (smallest share {served.share:.2f})"


def print_summary(judged: Sequence[Judged], console: Console) -> None:
    """Print one line for every population."""
    table = Table(title="best responses needed", title_justify="left")
    for head in ("method", "seed", "needed", "K", "left out", "diagonal", "seconds"):
        table.add_column(head, justify="left" if head == "method" else "right")
    for entry in judged:
        bounds = entry.bounds
        smallest = min(bounds.served[team].share for team in bounds.able)
        left_out = len(bounds.own) - len(bounds.able)
        cells = [str(entry.seed), count(bounds), str(len(bounds.own)), str(left_out), f"{smallest:.2f}"]
        cells += [f"{bounds.seconds:.0f}"]
        table.add_row(escape(plain(entry.method)), *cells)
    console.print(table)
