"""`brdiv fit --help`, as one reads it in a terminal."""

import contextlib
import io
import re

import pytest

from brdiv.commands import main


@pytest.fixture(scope="module")
def text():
    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.raises(SystemExit):
        main(["fit", "--help"])
    return out.getvalue()


def test_our_own_settings_come_first_and_lightnings_after(text):
    order = ["--config", "--run", "--threads", "--ckpt_path", "--data.", "--model.", "--progress.", "--cross_play."]
    order += ["--plastic.", "--rewards.", "--checkpoints.", "--trainer.", "--optimizer"]
    # As an option's own line: descriptions may name others.
    places = [re.search(rf"^  (?:-c CONFIG, )?{re.escape(name)}", text, re.MULTILINE).start() for name in order]
    assert places == sorted(places)


def test_every_group_says_what_it_is_about(text):
    titles = re.findall(r"^(\S.*):$", text, re.MULTILINE)
    assert titles[0] == "options"
    assert {title.partition(":")[0] for title in titles[2:]} == {
        "data", "model", "progress", "cross_play", "plastic", "rewards", "checkpoints", "trainer",
        "optimizer", "lr_scheduler",
    }  # fmt: skip
    assert len(titles) == len(set(titles))


def test_there_is_no_markup_and_nothing_that_can_not_be_given(text):
    for mark in ("``", ":class:", ":paramref:", ":func:", "<class", "-->", "brdiv.games.", "instantiation.Set"):
        assert mark not in text
    assert not re.search(r"^  --(data|model|trainer) CONFIG", text, re.MULTILINE)
    assert "known subclasses: Cooking" in " ".join(text.split())
