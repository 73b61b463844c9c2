import asyncio
import json

import aiohttp
import pytest

from brdiv.commands import main
from brdiv.runs import read_episodes
from tests.serve.running import ask, played, running_server
from tests.serve_hostile import attack


def talk(conversation):
    """Run a conversation with a server."""

    async def run():
        async with aiohttp.ClientSession() as session:
            return await conversation(session)

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "http://127.0.0.1:{port}"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Host": "evil.example:{port}"}, 403),
        ({"Host": "127.0.0.1"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Content-Type": "text/plain"}, 415),
    ],
)
def test_only_the_servers_own_page_is_answered(server, headers, status):
    async def conversation(session):
        sent = {"Content-Type": "application/json"}
        sent |= {key: value.format(port=server.port) for key, value in headers.items()}
        body = json.dumps({"game": "LBF", "seats": ["H1", "person"]})
        async with session.post(f"{server.address}api/begin", data=body, headers=sent) as response:
            return response.status, await response.json()

    found, answer = talk(conversation)
    assert found == status
    assert ("match" in answer) == (status == 200)


def test_a_move_out_of_turn_changes_nothing(server):
    async def conversation(session):
        _, begun = await ask(session, server, "begin", game="Reaching", seats=["person", "H1"])
        name = begun["match"]
        refused = [
            await ask(session, server, "act", match=name, step=step, action=action)
            for step, action in ((1, 0), (-1, 0), (0, 5), (0, -1), (0, None), (0, True))
        ]
        _, seen = await ask(session, server, "see", match=name)
        return refused, seen

    refused, seen = talk(conversation)
    assert [status for status, _ in refused] == [409, 400, 400, 400, 400, 400]
    assert seen["step"] == 0


def test_nobody_sits_in_a_seat_that_is_not_theirs(server, runs):
    label = f"{runs}/Reaching"

    async def conversation(session):
        seats = [["person", "person"], [f"{label}:plastic", "person"], ["H99", "person"], ["person", f"{label}:4"]]
        return [(await ask(session, server, "begin", game="Reaching", seats=pair))[0] for pair in seats]

    assert talk(conversation) == [400, 400, 400, 400]


def test_an_episode_is_kept_only_of_those_who_agree_and_replays_as_it_was(server, kept, capsys, tmp_path):
    def lines():
        return kept.read_text().splitlines() if kept.exists() else []

    async def conversation(session):
        before = len(lines())
        shown = await played(session, server, "LBF", ["H1", "person"], [1, 4, 5])
        assert len(lines()) == before, "nobody has agreed"
        _, answer = await ask(session, server, "begin", game="LBF", seats=["H1", "person"], seed=7, keep=True)
        name = answer["match"]
        while not answer["end"]:
            action = [1, 4, 5][answer["step"] % 3]
            _, answer = await ask(session, server, "act", match=name, step=answer["step"], action=action)
        assert answer["kept"]
        await ask(session, server, "agree", match=name, keep=True)
        assert len(lines()) == before + 1, "agreeing twice keeps it once"
        return shown

    shown = talk(conversation)
    own = tmp_path / "own.jsonl"
    own.write_text(lines()[-1] + "\n")
    (episode,) = read_episodes(own)
    assert episode.seats == ("H1", "person")
    assert [episode.game.scene(both[0]) for both in episode.views] == [moment["scene"] for moment in shown]
    assert episode.rewards == [moment["reward"] for moment in shown[1:]]
    main(["play", "--replay", str(own)])
    out = capsys.readouterr().out
    assert "episode 1: LBF: H1 with person, 50 steps, time is up" in out
    assert all(episode.game.text(both[0]) in out for both in episode.views)


def test_the_matrix_of_a_population_is_measured(server, runs):
    async def conversation(session):
        return await ask(session, server, "matrix", game="Reaching", population=f"{runs}/Reaching")

    status, answer = talk(conversation)
    assert status == 200
    assert [len(row) for row in answer["returns"]] == [3, 3, 3]


def test_hostile_messages_disturb_nobody():
    with running_server("--most-games", "8") as server:
        assert asyncio.run(attack(server, 400, seed=1)) == []


def test_the_page_names_no_other_server(server):
    async def conversation(session):
        async with session.get(server.address) as response:
            return response.headers, await response.text()

    headers, page = talk(conversation)
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "http" not in page.replace("http-equiv", "")
