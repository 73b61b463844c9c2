"""`brdiv export`."""

from pathlib import Path
from typing import Literal

from brdiv.commands.line.checks import check_output_folder, writing


def export(file: Path, to: Literal["onnx"] = "onnx", out: Path | None = None, allow_imports: bool = False) -> None:
    """Write a population's policies, and the encoder of their game, as graphs that run without brdiv.

    Example: `brdiv export runs/reaching-brdiv-seed0 --to onnx`

    Every policy is a file with `input [N, D]` and `logits [N, A]`; encoder.onnx makes that input of a seat's plain
    numbers, `view [N, V]`. The metadata of each file says what every number means.

    Args:
        file: Population file, or the folder of its run.
        to: Format to write.
        out: Folder for the files; a folder `onnx` beside the population if none is given.
        allow_imports: Import the custom game or external environment that a trusted file names.

    """
    from brdiv.doors.onnx import TOLERANCE, check_installed, export_onnx, largest_difference
    from brdiv.runs import load_population
    from brdiv.runs.population_file import find_population

    check_installed()
    saved = load_population(file, allow_imports)
    out = out or find_population(file).with_name(to)
    check_output_folder(out)
    with writing(out):
        files = export_onnx(saved, out)
    difference = largest_difference(saved, out)
    if difference > TOLERANCE:
        raise RuntimeError(f"the graphs in {out} differ from the networks by up to {difference:.1e}")
    print(f"{len(files)} files in {out}: teammates, best responses{', encoder' if saved.game.view_size else ''}")
    print(f"played beside the networks, they differ by at most {difference:.0e}")
