"""`brdiv report`."""

from pathlib import Path

from brdiv.commands.line.checks import check_at_least, check_output, check_output_folder, writing
from brdiv.commands.line.cores import use_threads


def report(
    study: Path,
    out: Path | None = None,
    tables: Path | None = None,
    animate: int = 1,
    threads: int = 1,
    allow_imports: bool = False,
) -> None:
    """Write what a study found as one HTML page: figures, tables, animations, and verdicts on the paper's claims.

    Example: `brdiv report runs/quick`

    The page is made from the study's files; nothing is trained. It needs no network and may be sent as it is. Runs that
    failed or are not done yet are listed, and the rest is shown.

    Args:
        study: Folder of the study.
        out: File to write; report.html in the study's folder if none is given.
        tables: Folder for the page's tables as Markdown, LaTeX and CSV; none are written if none is given.
        animate: Number of populations of each method to show at play, those nearest to its median BRDiv; 0 shows none.
        threads: Number of CPU threads that torch may use.
        allow_imports: Import the custom games that trusted population files name, to show them at play.

    """
    check_at_least(0, animate=animate)
    check_at_least(1, threads=threads)
    from brdiv.report.study import read_study

    read_study(study)
    out = out or study / "report.html"
    check_output(out, {".html"})
    check_output_folder(tables)

    import time

    import torch

    from brdiv.commands.line.shipped import shipped_settings
    from brdiv.report import write_report

    def say_which(game: str) -> None:
        print(f"reading {game}")

    torch.set_num_threads(use_threads(threads))
    started = time.monotonic()
    with writing(out):
        write_report(study, out, shipped_settings, animate, allow_imports, say_which, tables)
    size = out.stat().st_size / 1e6
    if tables is not None:
        print(f"tables      {tables}")
    print(f"report      {out} ({size:.1f} MB, {time.monotonic() - started:.0f} s)")
