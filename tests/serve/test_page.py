"""The page in a real browser: what people see and press, compared with what the rules give."""

import asyncio
import json
from contextlib import AsyncExitStack

import pytest
import torch

from brdiv.games import LBF, Cooking, Reaching
from brdiv.runs import read_episodes
from tests.serve.chromium import chromium, find_chromium, open_tab
from tests.serve.conftest import SHORT

pytestmark = pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed")

GAMES = {"Reaching": Reaching(), "LBF": LBF(), "Cooking 2": Cooking(horizon=SHORT)}
OVER = "document.body.classList.contains('over')"
PLAYERS = "[...document.querySelectorAll('.pieces > g')].map((g) => [g.dataset.key, g.style.transform])"


@pytest.fixture(scope="module")
def browser():
    with chromium() as port:
        yield port


@pytest.fixture
def in_browser(browser, server):
    """Runs a script with so many tabs that show the page; their own scripts may not have failed."""

    def run(script, tabs=1):
        async def opened():
            async with AsyncExitStack() as stack:
                found = [await stack.enter_async_context(open_tab(browser)) for _ in range(tabs)]
                for tab in found:
                    await tab.resize(1200, 900)
                    await tab.open(server.address)
                result = await script(*found)
                assert [tab.complaints for tab in found] == [[]] * tabs
                return result

        return asyncio.run(opened())

    return run


async def begin(tab, game, you, agents):
    """Choose a game, a seat and who plays the others, and start."""
    await tab.run("document.querySelector('#change').offsetParent && document.querySelector('#change').click()")
    await tab.select("game", game)
    await tab.click(f"input[name=you][value='{you}']")
    for seat, name in agents.items():
        await tab.select(f"agent{seat}", name)
    await tab.click("#start")
    await tab.until(
        "document.body.classList.contains('playing') && document.querySelector('#step').textContent === '0'"
    )


async def shown(tab):
    """Where everything is drawn."""
    return {key: where for key, where in await tab.run(PLAYERS) if key}


async def press(tab, key):
    """Press a key, and wait for the step to be played."""
    step = int(await tab.text("#step"))
    await tab.press(key)
    await tab.until(f"Number(document.querySelector('#step').textContent) === {step + 1}")


def drawn(game, view):
    """What the page must show of a view."""
    scene = game.scene(view)
    return {shape["key"]: f"translate({shape['x']:g}px, {shape['y']:g}px)" for shape in scene if shape.get("key")}


def towards_partner(game, view):
    """Keys that bring the square to the circle of Cooperative Reaching, one step at a time."""
    x, y = view[0] - view[2], view[1] - view[3]
    return "ArrowLeft" if x < 0 else "ArrowRight" if x > 0 else "ArrowUp" if y < 0 else "ArrowDown" if y > 0 else " "


@pytest.mark.parametrize("you", [0, 1])
@pytest.mark.parametrize("name", GAMES)
def test_every_game_is_played_by_keys_from_either_seat(in_browser, kept, name, you):
    game = GAMES[name]
    keys = [action.keys[0] for action in game.guide().actions]
    luck = torch.Generator().manual_seed(you)
    choices = torch.randint(len(keys), (game.horizon,), generator=luck).tolist()

    async def script(tab):
        await begin(tab, name, you, {1 - you: "random"})
        await tab.click("#keep")
        scenes, done = [await shown(tab)], []
        for choice in choices:
            await press(tab, keys[choice])
            done.append(choice)
            scenes.append(await shown(tab))
            if await tab.run(OVER):
                break
        steps = await tab.run("document.querySelector('#history').children.length")
        return scenes, done, steps, await tab.text("#status"), await tab.text("#total")

    scenes, done, steps, status, total = in_browser(script)
    episode = read_episodes(kept)[-1]
    assert episode.seats[you] == "person"
    assert [actions[you] for actions in episode.actions] == done
    assert [drawn(game, both[0]) for both in episode.views] == scenes, "the replay is the live game, frame by frame"
    assert float(total) == pytest.approx(sum(episode.rewards), abs=0.005)
    assert status.startswith("Won" if episode.won else "The time is up")
    assert steps == len(episode.actions)


def test_following_a_partner_to_its_corner_is_paid_what_the_rules_pay(in_browser, kept):
    game = GAMES["Reaching"]

    async def script(tab):
        await begin(tab, "Reaching", 1, {0: "H5"})
        await tab.click("#keep")
        while not await tab.run(OVER):
            places = {key: [float(part) for part in where[10:-1].replace("px", "").split(",")]
                      for key, where in (await shown(tab)).items()}  # fmt: skip
            view = [round(value) for key in ("seat0", "seat1") for value in places[key]]
            await press(tab, towards_partner(game, view))
        return await tab.text("#news"), await tab.text("#total")

    news, total = in_browser(script)
    assert news == "+0.75 Both stand on a goal that pays 0.75: won."
    assert total == "0.75"
    assert read_episodes(kept)[-1].rewards[-1] == 0.75


def test_a_game_survives_reloading_and_two_tabs_play_two_games(in_browser, server):
    async def script(first, second):
        await begin(first, "LBF", 1, {0: "H1"})
        await begin(second, "Cooking", 0, {1: "H7"})
        for key in ("ArrowUp", "ArrowLeft", "Enter"):
            await press(first, key)
            await press(second, key)
        before, other = await shown(first), await shown(second)
        await first.open(server.address)
        await first.until("document.querySelector('#step').textContent === '3'")
        assert await shown(first) == before
        assert await first.run("document.querySelector('#history').children.length") == 3
        await press(first, " ")
        assert await shown(second) == other
        await press(second, " ")
        return await first.text("#title"), await second.text("#title")

    assert in_browser(script, tabs=2) == ("Level-Based Foraging", "Simple Cooking")


def test_two_agents_are_watched_with_pause_and_steps_back(in_browser):
    async def script(tab):
        await begin(tab, "LBF", -1, {0: "H1", 1: "H9"})
        await tab.until("Number(document.querySelector('#step').textContent) >= 3")
        await tab.click("#pause")
        await asyncio.sleep(0.3)  # what was asked for before may still come
        step = int(await tab.text("#step"))
        now = await shown(tab)
        await asyncio.sleep(1.5)
        assert int(await tab.text("#step")) == step, "nothing moves while it is paused"
        before = []  # in some steps nobody moves, so all of them are looked at
        for number in reversed(range(step)):
            await tab.click("#back")
            assert int(await tab.text("#step")) == number
            before.append(await shown(tab))
        assert any(picture != now for picture in before)
        for _ in range(step):
            await tab.click("#on")
        assert await shown(tab) == now
        await tab.click("#on")
        await tab.until(f"Number(document.querySelector('#step').textContent) === {step + 1}")

    in_browser(script)


def test_a_clock_plays_on_without_anyone(in_browser):
    async def script(tab):
        await tab.select("pace", "400")
        await begin(tab, "Reaching", 1, {0: "H11"})
        await tab.until("Number(document.querySelector('#step').textContent) >= 2")
        await tab.press("ArrowLeft")
        await tab.until("document.querySelector('#history').textContent.includes('Square left')")

    in_browser(script)


def test_beliefs_and_likely_actions_are_shown_on_request_and_a_cell_plays_its_pair(in_browser):
    async def script(tab):
        await tab.click("#believes")
        await tab.click("#tells")
        await tab.select("game", "Reaching")
        await tab.until("document.querySelectorAll('#cells td').length === 9")
        await tab.click("#cells tbody tr:nth-child(2) td:nth-child(4) button")
        await tab.until("document.querySelectorAll('#belief-bars .bar').length === 3")
        await tab.until("document.querySelectorAll('#likely-bars .bar').length === 10")
        shares = await tab.run(
            "[...document.querySelectorAll('#belief-bars .bar')].map((bar) => Number(bar.ariaValueNow))"
        )
        assert sum(shares) == pytest.approx(1, abs=1e-3)
        return await tab.text("#status")

    assert in_browser(script) == "teammate 2 plays with best response 3."


def test_a_page_that_sends_nonsense_is_told_so_and_plays_on(in_browser):
    bad = [None, [], {"match": "x", "step": 0}, {"step": 10**30}, {"match": {}, "step": "1"}]

    async def script(tab):
        await begin(tab, "Reaching", 0, {1: "H1"})
        codes = await tab.run(
            f"Promise.all({json.dumps(bad)}.map((body) => fetch('/api/act', {{method: 'POST', headers:"
            " {'Content-Type': 'application/json'}, body: JSON.stringify(body)}).then((answer) => answer.status)))"
        )
        tab.complaints.clear()  # the browser notes every refusal
        await press(tab, "ArrowUp")
        return codes

    codes = in_browser(script)
    assert set(codes) <= {400, 404}
    assert len(codes) == len(bad)


def test_the_page_fits_a_phone(in_browser):
    async def script(tab):
        await tab.resize(390, 844)
        await begin(tab, "Cooking", 1, {0: "H1"})
        sizes = "[...document.querySelectorAll('#pad button')].map((b) => Math.min(b.offsetHeight, b.offsetWidth))"
        return await tab.run("document.documentElement.scrollWidth"), min(await tab.run(sizes))

    width, smallest = in_browser(script)
    assert width <= 390
    assert smallest >= 44
