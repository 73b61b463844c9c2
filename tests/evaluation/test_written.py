"""Tables of an evaluation for papers and pages."""

import re

import pytest

from brdiv.commands import main
from brdiv.evaluation.written import latex, markdown
from tests.evaluation.test_evaluate import save
from tests.teamwork.test_plastic import corner_seekers


@pytest.fixture
def out(tmp_path, capsys):
    """The folder of an evaluation of two methods, one of them with one seed and a name full of signs."""
    for seed in range(2):
        save(tmp_path / "runs" / f"good{seed}", corner_seekers(certainty=5.0 + seed), method="Good", seed=seed)
    save(tmp_path / "runs" / "new", method="A|B_50% #1 & ^x")
    main(["evaluate", str(tmp_path / "runs"), "--episodes", "3", "--out", str(tmp_path / "out")])
    (tmp_path / "out" / "printed.txt").write_text(capsys.readouterr().out)
    return tmp_path / "out"


def markdown_rows(path):
    """Cells of a Markdown table, as a reader of Markdown would split it."""
    title, empty, *lines = path.read_text().splitlines()
    assert title.startswith("**")
    assert empty == ""
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def latex_rows(path):
    """Cells between the rules of a LaTeX table."""
    body = path.read_text().split(r"\toprule")[1].split(r"\bottomrule")[0].replace(r"\midrule", "")
    lines = [line.strip() for line in body.split(r"\\" + "\n") if line.strip()]
    return [[cell.strip() for cell in re.split(r"(?<!\\)&", line)] for line in lines]


def test_all_that_is_printed_is_written_as_markdown_and_latex(out):
    printed = (out / "printed.txt").read_text()
    for name, columns, rows in (("summary", 8, 2), ("teammates", 3, 11)):
        head, rule, *cells = markdown_rows(out / f"{name}.md")
        assert {len(row) for row in (head, rule, *cells)} == {columns}
        assert len(cells) == rows
        in_latex = latex_rows(out / f"{name}.tex")
        assert [len(row) for row in in_latex] == [columns] * (rows + 1)
        for ours, theirs in zip(cells, in_latex[1:], strict=True):
            assert ours[1:] == [cell.replace("--", "-").replace(r"\%", "%") for cell in theirs[1:]]
            assert all(cell in printed for cell in ours[1:])
        assert "summary.md, .tex, teammates.md, .tex" in printed


def test_one_seed_has_figures_but_no_interval(out):
    _, _, good, other = markdown_rows(out / "summary.md")
    assert re.fullmatch(r"\d\.\d{3} \[\d\.\d{3}, \d\.\d{3}\]", good[2])
    assert re.fullmatch(r"\d\.\d{3}", other[2])
    assert "nan" not in (out / "printed.txt").read_text()


def test_signs_are_signs(out):
    assert markdown_rows(out / "summary.md")[3][0] == r"A\|B\_50% \#1 & ^x"
    assert latex_rows(out / "summary.tex")[2][0] == r"A\textbar{}B\_50\% \#1 \& \textasciicircum{}x"
    assert latex_rows(out / "teammates.tex")[0][2] == r"A\textbar{}B\_50\% \#1 \& \textasciicircum{}x"
    assert "A|B_50% #1 & ^x" in (out / "printed.txt").read_text()


@pytest.mark.parametrize(
    ("text", "in_markdown", "in_latex"),
    [
        ("a\\b", r"a\\b", r"a\textbackslash{}b"),
        ("[a](b)", r"[a]\(b)", "{}[a](b)"),
        ("{1} <b> $2~", r"{1} \<b\> $2\~", r"\{1\} \textless{}b\textgreater{} \$2\textasciitilde{}"),
        ("two\nlines", "two lines", "two lines"),
        ("4.5-5.3", "4.5-5.3", "4.5--5.3"),
    ],
)
def test_nothing_is_taken_for_markup(text, in_markdown, in_latex):
    assert (markdown(text), latex(text)) == (in_markdown, in_latex)
