"""`brdiv study`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from brdiv.commands.line.checks import check_at_least, check_output_folder, writing
from brdiv.errors import UserError

if TYPE_CHECKING:
    from brdiv.study.cells import Cell
    from brdiv.study.plan import Study
    from brdiv.study.settings import Resolved


def study(
    file: str,
    folder: Path | None = None,
    jobs: int | None = None,
    retry: bool = False,
    dry_run: bool = False,
    cell: int | None = None,
    ray: str | None = None,
    evaluate: bool = False,
    allow_imports: bool = False,
) -> None:
    """Train and evaluate games x methods x seeds, as a file says; run again, it finishes what is missing.

    Example: `brdiv study configs/studies/quick.yaml`

    Every cell is a run folder. Cells that were interrupted resume from their last checkpoint; cells that are done are
    left alone. Ctrl-C stops all of them with a checkpoint each. A game is evaluated as soon as all of its cells have
    ended.

    Args:
        file: File of the study, or the name of a shipped one, as in quick.
        folder: Folder for all that the study writes; runs/<name of the file> if none is given.
        jobs: How many cells to train at a time on this machine; as many as there are cores if no number is given.
        retry: Try cells again that have failed, from their last checkpoint.
        dry_run: Check everything, list the cells and estimate the time, without training.
        cell: Train only the cell of this number in the list of --dry-run, as a job of a scheduler does; before
            a learner the population that it is trained with.
        ray: Train on a Ray cluster: its address, or auto for the one this machine is in.
        evaluate: Train nothing: evaluate the cells that are done, so that `brdiv report` can show them.
        allow_imports: Import what population files name that were in the folder before.

    """
    check_at_least(1, jobs=1 if jobs is None else jobs, cell=1 if cell is None else cell)
    given = {"--retry": retry, "--cell": cell is not None, "--ray": ray is not None}
    if evaluate and any(given.values()):
        raise UserError(
            f"--evaluate trains nothing, so {next(name for name in given if given[name])} has no place beside it"
        )

    from brdiv.study.plan import read_study

    planned = read_study(file)
    folder = folder or Path("runs", planned.path.stem)
    check_output_folder(folder)
    cells = planned.cells(folder)
    if cell is not None and cell > len(cells):
        raise UserError(f"cell is {cell}: the study has {len(cells)} cells")
    chosen = cells if cell is None else with_what_it_needs(cells[cell - 1])
    resolved = resolve_cells(planned, chosen, folder)
    if dry_run:
        show_plan(planned, chosen, resolved, folder, jobs)
        return
    with writing(folder):
        if evaluate:
            evaluate_only(planned, resolved, folder, jobs, allow_imports)
        else:
            train(planned, chosen, resolved, folder, jobs, retry, ray, allow_imports)


def with_what_it_needs(cell: "Cell") -> "list[Cell]":
    """A cell, behind the one that must be trained before."""
    return [cell] if cell.needs is None else [cell.needs, cell]


def resolve_cells(planned: "Study", cells: "list[Cell]", folder: Path) -> "dict[str, Resolved]":
    """Check everything that some cells need, before anything is written."""
    import torch

    from brdiv.commands.line.resolving import resolve
    from brdiv.study.settings import check_disk, resolve_all

    torch.set_num_threads(1)
    wanted = {(cell.game, cell.method) for cell in cells}
    groups = [group for group in planned.groups if group[:2] in wanted]
    resolved = resolve_all(planned, groups, folder, resolve)
    check_disk(folder, cells, resolved)
    return resolved


def train(
    planned: "Study",
    cells: "list[Cell]",
    resolved: "dict[str, Resolved]",
    folder: Path,
    jobs: int | None,
    retry: bool,
    ray: str | None,
    allow_imports: bool,
) -> None:
    """Train, and evaluate if these are all cells; ends with an error code if any has failed."""
    from brdiv.commands.line.cores import warn_if_crowded
    from brdiv.study.cells import DONE, FAILED
    from brdiv.study.local import LocalPool
    from brdiv.study.on_ray import RayPool
    from brdiv.study.run import Jobs, run_whole, train_all

    if ray is not None:
        pool: RayPool | LocalPool = RayPool(ray, folder, planned.threads, planned.gpus)
    else:
        pool = LocalPool(jobs_here(jobs, planned.threads, len(cells)))
        warn_if_crowded(pool.jobs * planned.threads)
    at_a_time = min(pool.jobs, len(cells))
    if len(cells) < len(planned.cells(folder)):
        ended = train_all(cells, resolved, pool, at_a_time, retry)
    else:
        at_once = Jobs(at_a_time, jobs_here(jobs, 1, len(cells)))
        ended = run_whole(planned, resolved, folder, pool, at_once, retry, command_line(), allow_imports)
    failed = [cell for cell, state in ended if state.state == FAILED]
    print(f"{sum(state.state == DONE for _, state in ended)} of {len(ended)} cells are done; all of it is in {folder}")
    if failed:
        names = ", ".join(cell.name for cell in failed)
        print(f"failed: {names}; their logs say why, and --retry tries them again", file=sys.stderr)
    if any(state.state != DONE for _, state in ended):
        sys.exit(1)


def evaluate_only(
    planned: "Study", resolved: "dict[str, Resolved]", folder: Path, jobs: int | None, allow_imports: bool
) -> None:
    """Evaluate the cells that are done."""
    from brdiv.study.cells import DONE
    from brdiv.study.run import evaluate_done

    at_once = jobs_here(jobs, 1, len(planned.cells(folder)))
    ended = evaluate_done(planned, resolved, folder, at_once, command_line(), allow_imports)
    done = sum(state.state == DONE for _, state in ended)
    print(f"{done} of {len(ended)} cells are done, and evaluated; `brdiv report {folder}` shows them")


def command_line() -> str:
    """Write the command as it was given."""
    return " ".join(["brdiv", *sys.argv[1:]])


def jobs_here(jobs: int | None, threads: int, cells: int) -> int:
    """How many cells to train at a time on this machine."""
    from brdiv.commands.line.cores import usable_cores, use_threads

    most = max(1, usable_cores() // threads)
    return min(most if jobs is None else use_threads(jobs, "jobs"), cells)


def show_plan(
    planned: "Study", cells: "list[Cell]", resolved: "dict[str, Resolved]", folder: Path, jobs: int | None
) -> None:
    """Print every cell with its number and how it stands, then how long the rest may take."""
    from brdiv.study.run import planned_steps
    from brdiv.study.settings import check_disk
    from brdiv.study.standing import clock, look_at

    numbers = {cell: number for number, cell in enumerate(planned.cells(folder), 1)}
    standing = look_at(cells, planned_steps(cells, resolved))
    for cell, state in standing.states.items():
        label, steps = resolved[cell.group].label, standing.planned[cell]
        so_far = f", {state.steps:,} trained" if 0 < state.steps < steps else ""
        print(f"{numbers[cell]:>4}  {cell.name:40} {label:14} {steps:>13,} steps  {state.state}{so_far}")
    at_a_time = jobs_here(jobs, planned.threads, len(cells))
    left = [cell for cell, state in standing.states.items() if state.state in {"waiting", "running"}]
    games = dict.fromkeys(cell.game for cell in left if not cell.learner)
    speeds = {game: measure_speed(game, left, resolved, at_a_time) for game in games}
    for game, speed in speeds.items():
        print(f"{game}: about {speed:,.0f} steps/s per cell, {at_a_time} at a time on {planned.threads} threads each")
    needed = check_disk(folder, cells, resolved)
    seconds = standing.seconds_left(at_a_time, speeds) if left else 0.0
    time_left = f"about {clock(seconds)} without evaluation"
    print(f"{len(left)} of {len(cells)} cells to train: {time_left}, {needed / 1e9:.1f} GB at most")


def measure_speed(game: str, cells: "list[Cell]", resolved: "dict[str, Resolved]", at_a_time: int) -> float:
    """Steps per second of a game's first method while as many run as will: others are taken to be alike."""
    import tempfile

    import yaml

    from brdiv.benchmarks.together import measure_at_once

    first = next(cell for cell in cells if cell.game == game and not cell.learner)
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder, "settings.yaml")
        settings.write_text(yaml.safe_dump(resolved[first.group].settings))
        speeds = measure_at_once(["--config", str(settings)], at_a_time, first.threads, updates=40)
    return sum(speeds) / len(speeds)
