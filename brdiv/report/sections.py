"""What the page says of one game, ready to be laid out."""

from collections import Counter
from collections.abc import Sequence
from statistics import mean
from typing import NamedTuple

from brdiv.errors import UserError
from brdiv.evaluation.statistics import Estimate
from brdiv.report.animations import Cast, animate
from brdiv.report.charts import Diversity, curves_figure, diversity_figures, heatmap, scenarios, strangers_figure
from brdiv.report.paper import TABLE_2
from brdiv.report.results import (
    GENERATED,
    HEURISTICS,
    PLASTIC,
    GameResults,
    RunResult,
    aggregate,
    ends,
    run_name,
    typical,
)
from brdiv.report.settings import MethodSettings, Resolve, settings_of
from brdiv.report.study import DONE, StudyCell


class MethodRow(NamedTuple):
    """A method in the table of a game."""

    label: str
    colour: str
    number: int
    seeds: int  # that finished
    planned: int
    heuristics: Estimate
    generated: Estimate
    brdiv: float | None
    diagonal: float | None
    off_diagonal: float | None
    complete: int  # seeds none of whose teams can stand in for another
    distinct: int | None  # seeds in which every team has a strategy of its own


class StepsRow(NamedTuple):
    """A method in the table of steps to solve."""

    label: str
    colour: str
    teams: int
    unsolved: int
    steps: tuple[float, float]
    mean: float | None
    paper: str


class StrategyRow(NamedTuple):
    """A strategy, and in how many of a method's seeds some team has it."""

    strategy: str
    seeds: list[tuple[int, int]]  # (with it, of so many) for every method


class Stage(NamedTuple):
    """The teams of one population, at play."""

    run: RunResult
    cast: Cast | None
    why: str  # there is none


class LearnerRow(NamedTuple):
    """A learner prepared by one method, in the table of a game that has several learners."""

    learner: str
    label: str
    colour: str
    number: int
    seeds: int  # that met strangers
    heuristics: Estimate
    share: float | None  # of what is possible with heuristics, where that is known
    generated: Estimate


class LearnerFigures(NamedTuple):
    """One learner with strangers."""

    learner: str
    aggregate: str
    heatmaps: list[str]
    left_out: list[str]


class GameSection(NamedTuple):
    """All that the page shows of a game."""

    results: GameResults
    colours: dict[str, str]
    rows: list[MethodRow]
    learners: list[LearnerFigures]
    learner_rows: list[LearnerRow]
    diversity: list[Diversity]
    curves: str
    steps: list[StepsRow]
    strategies: list[StrategyRow]
    stages: dict[str, list[Stage]]
    settings: list[MethodSettings]


def make_section(
    results: GameResults, colours: dict[str, str], resolve: Resolve, animated: int, allow_imports: bool
) -> GameSection:
    """Work out all that the page shows of a game; ``colours`` are those of all games' methods."""
    return GameSection(
        results,
        colours,
        [method_row(results, label, colours[label], number) for number, label in enumerate(results.labels)],
        [learner_figures(results, learner, colours) for learner in results.learners],
        learner_rows(results, colours),
        diversity_figures(results, colours),
        curves_figure(results, colours),
        [row for label in results.labels if (row := steps_row(results, label, colours[label])) is not None],
        strategy_rows(results),
        {
            label: [stage(run, allow_imports) for run in typical(results.of(label), animated)]
            for label in results.labels
        },
        settings_of(results, resolve),
    )


def method_row(results: GameResults, label: str, colour: str, number: int) -> MethodRow:
    """Sum up a method."""
    runs = results.of(label)
    planned = sum(results.methods[cell.method] == label for cell in results.cells)
    told = [run for run in runs if run.strategies is not None]
    return MethodRow(
        label,
        colour,
        number,
        sum(results.methods[cell.method] == label and cell.state == DONE for cell in results.cells),
        planned,
        aggregate(results.evaluation(HEURISTICS), label),
        aggregate(results.evaluation(GENERATED), label),
        mean([run.brdiv for run in runs]) if runs else None,
        mean([run.diagonal for run in runs]) if runs else None,
        mean([run.off_diagonal for run in runs]) if runs else None,
        sum(len(run.groups) == run.n_types for run in runs),
        sum(run.strategies == run.n_types for run in told) if told else None,
    )


def learner_rows(results: GameResults, colours: dict[str, str]) -> list[LearnerRow]:
    """Compare learners, method by method; nothing where there is no more than one, nor bounds to measure it by."""
    found = []
    for number, label in enumerate(results.labels):
        for learner in results.learners:
            scripted, generated = (results.evaluation(kind, learner) for kind in (HEURISTICS, GENERATED))
            runs = {run for part in (scripted, generated) if part is not None for run in part.runs(label)}
            if runs:
                share = scripted.possible(label).get("share") if scripted is not None and scripted.runs(label) else None
                aggregates = aggregate(scripted, label), share, aggregate(generated, label)
                name = results.learner_label(learner)
                found.append(LearnerRow(name, label, colours[label], number, len(runs), *aggregates))
    several = len(results.learners) > 1 or any(row.share is not None for row in found)
    return found if several else []


def learner_figures(results: GameResults, learner: str, colours: dict[str, str]) -> LearnerFigures:
    """Draw a learner with strangers, and say which tasks do not count because some run did not meet them."""
    left_out = []
    for scenario in scenarios(results, learner):
        evaluation = results.evaluation(scenario, learner)
        assert evaluation is not None
        common = evaluation.common_tasks()
        left_out += [task for task in evaluation.tasks if task not in common]
    maps = [heatmap(results, scenario, learner) for scenario in scenarios(results, learner)]
    return LearnerFigures(results.learner_label(learner), strangers_figure(results, learner, colours), maps, left_out)


def steps_row(results: GameResults, label: str, colour: str) -> StepsRow | None:
    """Say how many steps a method's teams need."""
    runs = results.of(label)
    if not runs:
        return None
    steps = [step for run in runs for step in run.steps_to_solve]
    teams = sum(run.n_types for run in runs)
    paper = TABLE_2.get(label, "") if results.title == "Cooking" else ""
    return StepsRow(label, colour, teams, teams - len(steps), ends(steps), mean(steps) if steps else None, paper)


def strategy_rows(results: GameResults) -> list[StrategyRow]:
    """Count in how many seeds of each method some team has a strategy, commonest first."""
    told = {label: [run for run in results.of(label) if run.ways] for label in results.labels}
    counts = {label: Counter(name for run in runs for name in ways(run)) for label, runs in told.items()}
    total = sum(counts.values(), Counter())
    return [
        StrategyRow(name, [(counts[label][name], len(told[label])) for label in results.labels])
        for name, _ in total.most_common()
    ]


def ways(run: RunResult) -> set[str]:
    """Strategies that a population has."""
    return {way.strategy for way in run.ways if way.strategy}


def stage(run: RunResult, allow_imports: bool) -> Stage:
    """Let the teams of a population play, or say why they can't."""
    try:
        return Stage(run, animate(run, allow_imports), "")
    except UserError as error:
        return Stage(run, None, str(error))


class Missing(NamedTuple):
    """Runs of a method that are not all they should be, for one reason."""

    game: str
    method: str
    seeds: list[int]
    state: str
    why: str


NOT_EVALUATED = "not evaluated"


def incomplete(sections: Sequence[GameSection]) -> list[Missing]:
    """List runs that are not done, and those that are but have met no strangers, by method and reason."""
    found: dict[tuple[str, str, str, str], list[int]] = {}
    for section in sections:
        for cell in [*section.results.cells, *section.results.learner_cells]:
            state, why = standing(section.results, cell)
            if state != DONE:
                name = section.results.methods[cell.method]
                name += f" + {section.results.learner_labels[cell.learner]}" if cell.learner else ""
                key = section.results.title, name, state, why
                found.setdefault(key, []).append(cell.seed)
    return [Missing(game, method, seeds, state, why) for (game, method, state, why), seeds in found.items()]


def standing(results: GameResults, cell: StudyCell) -> tuple[str, str]:
    """Say how a run stands, and why it is not done, or what it lacks although it is."""
    if cell.state == DONE:
        label = results.methods[cell.method]
        learner = cell.learner or PLASTIC
        own = [found for (name, _), found in results.evaluations.items() if name.lower() == learner.lower()]
        met = [run_name(label, cell.seed) in found.runs(label) for found in own]
        if met and all(met):
            return DONE, ""
        return NOT_EVALUATED, f"it has met {'only some' if any(met) else 'no'} strangers: brdiv study FILE --evaluate"
    begun = f"{cell.steps:,} steps are trained" if cell.steps else ""
    return cell.state, "; ".join(part for part in (cell.why, begun) if part)
