"""An evaluation on disk: every number, and figures."""

import csv
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from brdiv.evaluation import Cell, Evaluation
from brdiv.plots import evaluation_heatmap, recognition_chart
from brdiv.stats import Estimate


def write(evaluation: Evaluation, summary: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Write `cells.csv`, one line a cell, `evaluation.json`, with everything, and the figures."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "cells.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(Cell._fields)
        writer.writerows(evaluation.cells)
    methods = [
        {name: value._asdict() if isinstance(value, Estimate) else value for name, value in entry.items()}
        for entry in summary
    ]
    everything = {
        "game": evaluation.game,
        "gamma": evaluation.gamma,
        "methods": methods,
        "correlation_of_brdiv_with_return": evaluation.correlation(),
        "self_play": [entry._asdict() for entry in evaluation.self_play],
        "cells": [cell._asdict() for cell in evaluation.cells],
    }
    # NaN is no JSON: what there is no figure for is null.
    (folder / "evaluation.json").write_text(json.dumps(without_nan(everything), indent=1))
    draw(evaluation, folder)


def draw(evaluation: Evaluation, folder: Path) -> None:
    """Draw `heatmap.png` and `.pdf`, and `recognition.png`."""
    methods, tasks = evaluation.methods, evaluation.tasks
    cells = [[evaluation.cell_estimate(method, task) for method in methods] for task in tasks]
    title = f"{evaluation.game}: return with strangers\nmean and 95 % interval over seeds"
    figure = evaluation_heatmap(methods, tasks, cells, title)
    for ending in ("png", "pdf"):
        figure.savefig(folder / f"heatmap.{ending}", dpi=150)
    curves = {method: [e.recognised for e in evaluation.self_play if e.method == method] for method in methods}
    title = f"{evaluation.game}: how soon learners know their own teammates"
    recognition_chart(curves, title).savefig(folder / "recognition.png", dpi=150)


def without_nan(value: Any) -> Any:
    """Replace NaN by None, all the way down."""
    if isinstance(value, dict):
        return {name: without_nan(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [without_nan(inner) for inner in value]
    return None if isinstance(value, float) and math.isnan(value) else value
