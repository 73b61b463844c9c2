"""The page in a real browser, where there is one: no error, every figure to be seen, tables that sort."""

import base64
import io
import json
import re
import shutil
import subprocess

import pytest
from PIL import Image

from brdiv.report import write_report
from tests.report.studies import record, whole_study

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: apt-get install chromium")

WATCH = "<script>window.errors = []; addEventListener('error', e => errors.push(e.message))</script>"
ASK = """<pre id="answer"></pre><script>addEventListener("load", () => {
  const shut = () => document.querySelectorAll("details:not([open])").length;
  const folded = [shut()];
  for (const kind of ["beforeprint", "afterprint"]) { dispatchEvent(new Event(kind)); folded.push(shut()); }
  for (const part of document.querySelectorAll("details")) part.open = true;
  const pictures = [...document.images].map(picture => [picture.complete, picture.naturalWidth]);
  const hidden = [...document.querySelectorAll("figure svg")].filter(svg => !svg.querySelector("title")).length;
  const size = part => { const box = part.getBoundingClientRect(); return Math.min(box.width, box.height); };
  const figures = [...document.querySelectorAll("figure svg, figure img")].map(size);
  const table = document.querySelector("#strangers table"), heads = [...table.tHead.rows[0].cells];
  const names = () => [...table.tBodies[0].rows].map(row => row.cells[0].textContent.trim());
  const orders = [names()];
  for (const head of [heads[2], heads[2], heads[0]]) { head.click(); orders.push(names()); }
  const columns = [];
  for (const table of document.querySelectorAll("table.sortable")) for (const head of table.tHead.rows[0].cells) {
    if (head.classList.contains("still")) continue;
    head.click();
    const cells = [...table.tBodies[0].rows].map(row => row.cells[head.cellIndex]);
    const values = cells.map(cell => (cell.dataset.value ?? cell.textContent).trim());
    columns.push([table.closest("section").id, head.textContent, head.getAttribute("aria-sort"), values]);
  }
  document.querySelector("#strangers .chip").click();
  const lit = document.querySelectorAll("#strangers svg .on").length;
  const hover = document.querySelector("#strangers svg title").textContent;
  const wide = document.documentElement.scrollWidth - innerWidth;
  const ground = getComputedStyle(document.body).backgroundColor;
  const ink = getComputedStyle(document.querySelector("#strangers svg text")).fill;
  const answer = { errors, folded, pictures, hidden, columns, figures, orders, lit, hover, wide, ground, ink };
  document.getElementById("answer").textContent = JSON.stringify(answer);
})</script>"""


@pytest.fixture(scope="module")
def opened(report):
    """What a wide window says."""
    return ask(report, "--window-size=1280,900", "--blink-settings=preferredColorScheme=1")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    study = whole_study(tmp_path_factory.mktemp("study"), {"base": 0.8, "independent": 0.5, "anyplay": 0.6}, seeds=3)
    record(study, "reaching", "anyplay", 9, "failed", "loss is not finite")
    record(study, "reaching", "independent", 11, "waiting")
    write_report(study, study / "report.html")
    text = (study / "report.html").read_text()
    watched = study / "watched.html"
    watched.write_text(text.replace("<head>", f"<head>{WATCH}").replace("</body>", f"{ASK}</body>"))
    return watched


def ask(report, *options):
    """Open the page, and return what it says of itself, and what the console says of it."""
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={report.parent / 'profile'}"]
    command += ["--enable-logging=stderr", "--virtual-time-budget=5000", *options, "--dump-dom", report.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    answer = re.search(r'<pre id="answer">(.*?)</pre>', done.stdout, re.DOTALL).group(1)
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(answer), console


def test_it_opens_without_an_error_and_every_figure_is_to_be_seen(opened):
    answer, console = opened
    assert (answer["errors"], console) == ([], [])
    assert len(answer["figures"]) == 1 + 2 + 2 + 3 * 4  # aggregate, heatmaps, diversity; teams at play
    assert min(answer["figures"]) > 40
    assert re.fullmatch(r"BRDiv: 0\.\d{3} \[0\.\d{3}, 0\.\d{3}\]", answer["hover"])


def test_a_click_on_a_head_sorts_and_another_turns_it_round(opened):
    assert opened[0]["orders"] == [
        ["BRDiv", "Independent", "AnyPlay"],
        ["BRDiv", "AnyPlay", "Independent"],
        ["Independent", "AnyPlay", "BRDiv"],
        ["AnyPlay", "BRDiv", "Independent"],
    ]


def number(text):
    """What the page takes for a number: the one that a text begins with."""
    found = re.match(r"-?[\d,]*\.?\d+", text)
    return float(found.group().replace(",", "")) if found else None


def test_every_column_of_every_table_can_be_sorted_by(opened):
    columns = opened[0]["columns"]
    assert {section for section, *_ in columns} == {"summary", "claims", "strangers", "steps", "populations", "made"}
    for section, head, order, values in columns:
        numbers = [number(value) for value in values]
        known = [value for value in numbers if value is not None]
        assert numbers[: len(known)] == known, f"{section}, {head}: what is no number stands last"
        assert known == sorted(known, reverse=order == "descending"), f"{section}, {head}"
        if not re.search(r"\d", "".join(values)):
            assert values == sorted(values, reverse=order == "descending", key=str.casefold), f"{section}, {head}"


def test_teams_at_play_are_pictures_that_move_and_every_figure_says_more_under_the_pointer(opened, report):
    assert len(opened[0]["pictures"]) == 3 * 4
    assert all(complete and width >= 168 for complete, width in opened[0]["pictures"])
    assert opened[0]["hidden"] == 0
    sources = re.findall(r'src="data:image/gif;base64,([^"]+)"', report.read_text())
    frames = [Image.open(io.BytesIO(base64.b64decode(source))).n_frames for source in sources]
    assert min(frames) > 1


def test_printed_everything_is_unfolded_and_afterwards_as_it_was(opened):
    before, printed, after = opened[0]["folded"]
    assert before > 0
    assert (printed, after) == (0, before)


def test_a_method_that_is_chosen_stands_out(opened):
    assert opened[0]["lit"] == 4  # point and interval, with heuristics and with generated teammates


def test_in_a_narrow_dark_window_nothing_is_too_wide_and_ink_and_ground_are_others(report, opened):
    narrow, console = ask(report, "--window-size=500,900", "--blink-settings=preferredColorScheme=0")
    assert (narrow["errors"], console) == ([], [])
    assert narrow["wide"] <= 0
    assert narrow["ground"] != opened[0]["ground"]
    assert narrow["ink"] != opened[0]["ink"]
