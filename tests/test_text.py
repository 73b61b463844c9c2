"""Names and labels that come from files, where they are shown."""

import csv

from matplotlib.backends.backend_agg import FigureCanvasAgg

from brdiv.evaluation.report import write_numbers
from brdiv.evaluation.scores import Cell, Evaluation, SelfPlay
from brdiv.evaluation.tables import print_about, print_evaluation
from brdiv.figures import evaluation_heatmap, recognition_chart
from brdiv.text import plain

HOSTILE = '=HYPERLINK("x")\x1b[31m[bold]$\\frac{1}$'


def test_a_description_is_printed_without_escape_sequences(capsys):
    about = {"game": {"name": "G\x1b[2J", "settings": {"a\nb": "\u202e"}}, "n_types": 2, "hidden": [3]}
    print_about({**about, "version": "1\x07", "method": {"name": HOSTILE}})
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 7
    assert all(line.isprintable() for line in out.splitlines())
    assert "[31m[bold]" in out  # shown, not obeyed


def evaluation():
    cells = [Cell(f"{HOSTILE} seed 0", HOSTILE, 0, "H1", "H1", False, 0.5, 0.4, 3.0, 2)]
    return Evaluation("Reaching", cells, [SelfPlay(f"{HOSTILE} seed 0", HOSTILE, 0, 1.0, 2.0, 3.0, [0.5])], 0.99)


def test_a_label_is_no_formula_of_a_spreadsheet(tmp_path):
    write_numbers(evaluation(), evaluation().summary(), tmp_path)
    with (tmp_path / "cells.csv").open(newline="") as file:
        _, row = csv.reader(file)
    assert row[1].startswith("'=HYPERLINK")
    assert "\x1b" not in "".join(row)
    assert row[6] == "0.5"


def test_a_label_is_no_markup_of_the_terminal(capsys):
    print_evaluation(evaluation(), evaluation().summary())
    out = capsys.readouterr().out
    assert "[bold]" in out
    assert "\x1b[31m" not in out


def test_a_label_is_no_formula_of_a_figure():
    for figure in (
        evaluation_heatmap([HOSTILE], ["$x"], [[(0.5, 0.4, 0.6)]], "$\\frac$"),
        recognition_chart({HOSTILE: [[0.5, 0.6]]}, "$\\nothing$"),
    ):
        FigureCanvasAgg(figure).draw()  # a wrong formula is an error here


def test_a_long_text_is_cut_and_halves_of_signs_are_spelt_out():
    assert len(plain("x" * 10_000)) == 200
    plain("\ud800").encode()
