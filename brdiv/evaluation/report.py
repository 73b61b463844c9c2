"""An evaluation on disk: every number, and its tables."""

import csv
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from brdiv.evaluation.scores import Cell, Evaluation
from brdiv.evaluation.statistics import Estimate
from brdiv.evaluation.written import possible_table, summary_table, teammate_table, write_table
from brdiv.text import for_cell


def write_numbers(evaluation: Evaluation, summary: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Write `cells.csv`, one line per cell, `evaluation.json`, with everything, and what is printed as .md and .tex."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "cells.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(Cell._fields)
        writer.writerows([for_cell(value) for value in cell] for cell in evaluation.cells)
    methods = [
        {name: value._asdict() if isinstance(value, Estimate) else value for name, value in entry.items()}
        for entry in summary
    ]
    everything = {
        "game": evaluation.game,
        "gamma": evaluation.gamma,
        "methods": methods,
        "correlation_of_brdiv_with_return": evaluation.correlation(),
        "bounds": dict(evaluation.bounds),
        "self_play": [entry._asdict() for entry in evaluation.self_play],
        "cells": [cell._asdict() for cell in evaluation.cells],
    }
    # NaN is no JSON: what there is no figure for is null.
    (folder / "evaluation.json").write_text(json.dumps(without_nan(everything), indent=1))
    write_table(summary_table(evaluation, summary), folder, "summary")
    write_table(teammate_table(evaluation), folder, "teammates")
    possible = possible_table(evaluation, summary)
    if possible is not None:
        write_table(possible, folder, "possible")


def without_nan(value: Any) -> Any:
    """Replace NaN by None, all the way down."""
    if isinstance(value, dict):
        return {name: without_nan(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [without_nan(inner) for inner in value]
    return None if isinstance(value, float) and math.isnan(value) else value
