"""`brdiv evaluate`."""

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

from brdiv.commands.line.checks import check_at_least, check_output_folder, check_seed, writing
from brdiv.commands.line.cores import use_threads, warn_if_crowded
from brdiv.errors import UserError

if TYPE_CHECKING:
    from brdiv.evaluation.scores import Evaluation


def evaluate(
    runs: list[Path] = [],  # noqa: B006
    /,
    learner: list[str] = ["plastic"],  # noqa: B006
    teammates: list[str] = ["heuristics"],  # noqa: B006
    episodes: int = 64,
    gamma: float = 0.99,
    seed: int = 0,
    threads: int = 2,
    allow_imports: bool = False,
    out: Path | None = None,
) -> None:
    """Let learners prepared with teammates play with strangers.

    Example: `brdiv evaluate runs/seeds-reaching --teammates heuristics`

    Runs of one method are its seeds: intervals are over them.

    Args:
        runs: Population files, run folders, or folders of runs, each with a PLASTIC learner.
        learner: `plastic` for those learners, files or folders of learners that `brdiv learn` trained, or both.
        teammates: `heuristics`, runs whose teammates are the strangers, or both.
        episodes: Number of complete episodes of each pair.
        gamma: Discount of the robustness measure.
        seed: Seed of the episodes.
        threads: Number of CPU threads that torch may use.
        allow_imports: Import the custom game or external environment that a trusted file names.
        out: Folder for tables and figures; evaluation-<number> if none is given.

    """
    check_at_least(1, episodes=episodes, threads=threads)
    check_seed(seed)
    if not 0 < gamma <= 1:
        raise UserError(f"gamma is {gamma:g}: it must lie above 0, and be at most 1")
    check_output_folder(out or Path())

    import torch

    from brdiv.evaluation.evaluate import evaluate
    from brdiv.evaluation.prepared import load_prepared, print_kinds
    from brdiv.evaluation.report import write_numbers
    from brdiv.evaluation.runs import load_runs, select_runs
    from brdiv.evaluation.tables import print_evaluation

    generated = [Path(name) for name in teammates if name != "heuristics"]
    plastic = list(runs) if "plastic" in learner else []
    if not runs and learner == ["plastic"]:
        raise UserError("runs is missing: name population files, or a trained --learner")
    everyone = load_runs([*plastic, *generated], allow_imports) if plastic or generated else []
    strangers = select_runs(everyone, generated) if generated else None
    prepared = select_runs(everyone, plastic) if plastic else []
    files = [Path(name) for name in learner if name != "plastic"]
    trained = load_prepared(files, allow_imports, [run.name for run in prepared])
    torch.set_num_threads(use_threads(threads))
    warn_if_crowded(torch.get_num_threads())
    evaluation = evaluate(
        prepared, strangers, episodes, seed, gamma, heuristics="heuristics" in teammates, trained=trained
    )
    out = out or next(folder for number in itertools.count(1) if not (folder := Path(f"evaluation-{number}")).exists())
    summary = evaluation.summary()
    with writing(out):
        write_numbers(evaluation, summary, out)
        draw(evaluation, out)
    print_evaluation(evaluation, summary)
    print_kinds(strangers or [], trained, "heuristics" in teammates)
    print(f"tables      {out}/summary.md, .tex, teammates.md, .tex")
    print(f"every cell  {out}/cells.csv, {out}/evaluation.json")
    print(f"figures     {out}/heatmap.png, .pdf{', recognition.png' if evaluation.self_play else ''}")


def draw(evaluation: "Evaluation", folder: Path) -> None:
    """Draw `heatmap.png` and `.pdf`, and `recognition.png`."""
    from brdiv.figures import evaluation_heatmap, recognition_chart

    methods, tasks = evaluation.methods, evaluation.tasks
    cells = [[evaluation.cell_estimate(method, task) for method in methods] for task in tasks]
    figure = evaluation_heatmap(methods, tasks, cells, f"{evaluation.game}: return with strangers")
    for ending in ("png", "pdf"):
        figure.savefig(folder / f"heatmap.{ending}", dpi=150)
    if not evaluation.self_play:
        return
    known = dict.fromkeys(entry.method for entry in evaluation.self_play)
    curves = {method: [e.recognised for e in evaluation.self_play if e.method == method] for method in known}
    title = f"{evaluation.game}: how soon learners know their own teammates"
    recognition_chart(curves, title).savefig(folder / "recognition.png", dpi=150)
