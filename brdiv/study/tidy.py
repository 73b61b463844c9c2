"""The tidy files of an evaluation that may be interrupted at any moment: what is whole is kept, and not done again."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

from brdiv.runs.whole import write_whole
from brdiv.study.plan import Measuring
from brdiv.study.units import GENERATED, HEADS, ITSELF, LEARNER, Row, Rows, Unit, key_of

LEDGER = "measured.jsonl"


class Tidy:
    """What was measured on one game: a CSV file of each kind, and a ledger of the units whose rows are all there.

    Rows are added as they come, and a unit enters the ledger after its rows: what a killed study left behind of a unit
    that is not in the ledger is dropped, and so is what was measured of other populations or in another way.
    """

    def __init__(self, folder: Path, units: Sequence[Unit], how: Measuring) -> None:
        self.folder, self.units, self.how = folder, units, how
        self.rows: dict[str, Rows] = {unit.key: {name: [] for name in HEADS} for unit in units}
        self.measured = self.read_ledger()
        self.read_rows()
        self.write()

    @property
    def missing(self) -> list[Unit]:
        """Units that are left to measure."""
        return [unit for unit in self.units if unit.key not in self.measured]

    def read_ledger(self) -> dict[str, int]:
        """Return how many rows there are of every unit that was measured as it would be now."""
        wanted = {unit.key: unit.digest(self.how) for unit in self.units}
        found: dict[str, int] = {}
        for line in read_lines(self.folder / LEDGER):
            try:
                entry = json.loads(line)
                if wanted.get(entry["unit"]) == entry["digest"]:
                    found[entry["unit"]] = int(entry["rows"])
            except (ValueError, KeyError, TypeError):
                continue  # torn off when the study was killed
        return found

    def read_rows(self) -> None:
        """Take in rows of measured units; a unit that lacks some is measured again."""
        for name, head in HEADS.items():
            lines = read_lines(self.folder / f"{name}.csv")
            for row in csv.reader(lines[1:]):
                if len(row) == len(head) and (key := unit_of(name, row)) in self.measured:
                    self.rows[key][name].append(tuple(row))
        for key, rows in list(self.measured.items()):
            if sum(map(len, self.rows[key].values())) != rows:
                del self.measured[key]
                self.rows[key] = {name: [] for name in HEADS}

    def add(self, unit: Unit, rows: Rows) -> None:
        """Add a unit's rows, then enter it into the ledger."""
        self.rows[unit.key].update(rows)
        for name, part in rows.items():
            append(self.folder / f"{name}.csv", as_csv(part))
        self.measured[unit.key] = sum(map(len, rows.values()))
        append(self.folder / LEDGER, self.entry(unit))

    def entry(self, unit: Unit) -> str:
        """Write a unit's line of the ledger."""
        line = {"unit": unit.key, "digest": unit.digest(self.how), "rows": self.measured[unit.key]}
        return json.dumps(line) + "\n"

    def write(self) -> None:
        """Write all files anew, in the order of the study: they don't tell in which order things were measured.

        The ledger comes last. Killed before, it still speaks of rows that are there, or whose number tells that not.
        """
        for name, head in HEADS.items():
            rows = [row for unit in self.units for row in self.rows[unit.key][name]]
            write_whole(self.folder / f"{name}.csv", as_csv([head, *rows]))
        measured = [unit for unit in self.units if unit.key in self.measured]
        write_whole(self.folder / LEDGER, "".join(map(self.entry, measured)))


def unit_of(name: str, row: Sequence[str]) -> str:
    """Name the unit that a row belongs to."""
    if name != "episodes":
        return key_of(row[0], row[1], LEARNER, ITSELF, ITSELF)
    scenario, met = row[3], row[4] if row[3] == GENERATED else row[3]
    return key_of(row[0], row[1], row[2], scenario, met)


def as_csv(rows: Sequence[Row]) -> str:
    """Write rows as lines."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def append(path: Path, text: str) -> None:
    """Add text to a file, at once."""
    with path.open("a", newline="") as file:
        file.write(text)


def read_lines(path: Path) -> list[str]:
    """Read a file's whole lines; none where there is no file. A last line without its end was torn off."""
    try:
        text = path.read_text(errors="replace")
    except OSError:
        return []
    return text[: text.rfind("\n") + 1].splitlines()
