"""The page in a real browser, where there is one: no error, every figure to be seen, tables that sort."""

import json
import re
import shutil
import subprocess

import pytest

from brdiv.report import write_report
from tests.report.studies import whole_study

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: apt-get install chromium")

WATCH = "<script>window.errors = []; addEventListener('error', e => errors.push(e.message))</script>"
ASK = """<pre id="answer"></pre><script>addEventListener("load", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
  const size = part => { const box = part.getBoundingClientRect(); return Math.min(box.width, box.height); };
  const figures = [...document.querySelectorAll("figure svg, figure img")].map(size);
  const table = document.querySelector("#strangers table"), heads = [...table.tHead.rows[0].cells];
  const names = () => [...table.tBodies[0].rows].map(row => row.cells[0].textContent.trim());
  const orders = [names()];
  for (const head of [heads[2], heads[2], heads[0]]) { head.click(); orders.push(names()); }
  document.querySelector("#strangers .chip").click();
  const lit = document.querySelectorAll("#strangers svg .on").length;
  const hover = document.querySelector("#strangers svg title").textContent;
  const wide = document.documentElement.scrollWidth - innerWidth;
  const ground = getComputedStyle(document.body).backgroundColor;
  const ink = getComputedStyle(document.querySelector("#strangers svg text")).fill;
  const answer = { errors, figures, orders, lit, hover, wide, ground, ink };
  document.getElementById("answer").textContent = JSON.stringify(answer);
})</script>"""


@pytest.fixture(scope="module")
def opened(report):
    """What a wide window says."""
    return ask(report, "--window-size=1280,900", "--blink-settings=preferredColorScheme=1")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    study = whole_study(tmp_path_factory.mktemp("study"), {"base": 0.8, "independent": 0.5, "anyplay": 0.6}, seeds=3)
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


def test_a_method_that_is_chosen_stands_out(opened):
    assert opened[0]["lit"] == 4  # point and interval, with heuristics and with generated teammates


def test_in_a_narrow_dark_window_nothing_is_too_wide_and_ink_and_ground_are_others(report, opened):
    narrow, console = ask(report, "--window-size=500,900", "--blink-settings=preferredColorScheme=0")
    assert (narrow["errors"], console) == ([], [])
    assert narrow["wide"] <= 0
    assert narrow["ground"] != opened[0]["ground"]
    assert narrow["ink"] != opened[0]["ink"]
