"""The figures of one game, as SVG."""

from collections.abc import Mapping
from typing import NamedTuple

from brdiv.evaluation.statistics import Estimate
from brdiv.figures import as_svg, band_chart, diversity_chart, evaluation_heatmap, interval_chart, page_ink
from brdiv.report.curves import learning_curves
from brdiv.report.results import (
    GENERATED,
    HEURISTICS,
    GameResults,
    Point,
    aggregate,
    diversity_and_return,
)

TITLES = {HEURISTICS: "with heuristics", GENERATED: "with generated teammates"}


class Diversity(NamedTuple):
    """Diversity and return in one scenario: a figure, and the correlation that it shows."""

    scenario: str
    svg: str
    correlation: Estimate
    runs: int


def scenarios(results: GameResults, learner: str) -> list[str]:
    """Kinds of strangers that a learner met, the paper's order."""
    met = [scenario for who, scenario in results.evaluations if who == learner]
    return sorted(met, key=lambda name: [HEURISTICS, GENERATED, name].index(name))


def strangers_figure(results: GameResults, learner: str, colours: Mapping[str, str]) -> str:
    """Draw the interquartile means of all methods, a panel per scenario."""
    panels = {}
    for scenario in scenarios(results, learner):
        evaluation = results.evaluation(scenario, learner)
        panels[TITLES.get(scenario, scenario)] = {label: aggregate(evaluation, label) for label in results.labels}
    with page_ink():
        figure, hover = interval_chart(panels, colours, "IQM of return")
    return as_svg(figure, f"{results.title}: aggregate return with strangers by method", hover)


def heatmap(results: GameResults, scenario: str, learner: str) -> str:
    """Draw the mean returns of every method with every teammate, or with those of every method."""
    evaluation = results.evaluation(scenario, learner)
    assert evaluation is not None
    methods, tasks = evaluation.methods, evaluation.tasks
    cells = [[evaluation.cell_estimate(method, task) for method in methods] for task in tasks]
    with page_ink():
        figure = evaluation_heatmap(methods, tasks, cells, f"{results.title} {TITLES.get(scenario, scenario)}")
    hover = {}
    for number, text in enumerate(figure.axes[0].texts):  # cell by cell, methods changing fastest
        row, column = divmod(number, len(methods))
        text.set_gid(gid := f"{number}.cell-text")
        seeds = len(evaluation.cell_values(methods[column], tasks[row]))
        hover[gid] = f"{methods[column]} with {tasks[row]}: {cells[row][column]}, {seeds} seeds"
    return as_svg(figure, f"{results.title}: return {TITLES.get(scenario, scenario)} by method and teammate", hover)


def diversity_figures(results: GameResults, colours: Mapping[str, str]) -> list[Diversity]:
    """Draw BRDiv and return of all runs, a figure per scenario."""
    found = []
    for scenario, title in TITLES.items():
        points, estimate = diversity_and_return(results, scenario)
        if len(points) > 1:
            found.append(Diversity(title, draw_points(results, points, title, colours), estimate, len(points)))
    return found


def draw_points(results: GameResults, points: list[Point], title: str, colours: Mapping[str, str]) -> str:
    """Draw one figure of diversity and return."""
    rows = [(point.run.label, point.run.name, point.brdiv, point.mean_return) for point in points]
    with page_ink():
        figure, hover = diversity_chart(rows, colours, "BRDiv", f"return {title}")
    return as_svg(figure, f"{results.title}: BRDiv and return {title}, a point per run", hover)


def curves_figure(results: GameResults, colours: Mapping[str, str]) -> str:
    """Draw what was logged while runs trained; nothing where nothing was."""
    panels = learning_curves(results)
    if not panels:
        return ""
    with page_ink():
        figure, hover = band_chart(panels, colours)
    return as_svg(figure, f"{results.title}: learning curves by method", hover)
