"""Send malformed and hostile messages to a server while somebody plays: `python -m tests.serve_hostile`.

Ten thousand messages: huge, nested, of wrong types, from other origins, out of turn, not even HTTP. None may be
answered by a traceback or a server's error, memory must stay flat, and the other game must go on as if nothing had
happened.
"""

import argparse
import asyncio
import json
import random
import sys

import aiohttp

from tests.serve.running import ask, played, running_server

PLACES = ("begin", "see", "act", "agree", "end", "matrix")
KEYS = ("game", "seats", "seed", "keep", "tells", "follows", "match", "step", "action", "population", "__proto__", "x")
ODD = (None, True, -1, 2**63, 10**400, 1.5, float("nan"), float("inf"), "", "person", "\x00", "A" * 3000,
       "../../etc/passwd", "\ud800", [], [[]], {}, {"a": 1}, ["person", "person"], ["person"], ["H1", 5],
       [None, None])  # fmt: skip
GROWTH = 16 * 2**20
"""Bytes that may come and go with so many messages."""


def nested(luck):
    depth = luck.choice([50, 900, 1500, 2000])
    return b"[" * depth + b"]" * depth if luck.random() < 0.5 else b'{"a":' * (depth // 3) + b"1" + b"}" * (depth // 3)


def odd_values(luck, match, step):
    """Known keys with values that make no sense, some of a game that is really there."""
    message = {key: luck.choice(ODD) for key in luck.sample(KEYS, luck.randint(0, 6))}
    if luck.random() < 0.5:
        message |= {"match": match, "step": luck.choice([step + 1, step - 1, -1, "0", None, 10**9])}
    return json.dumps(message).encode()


def body(luck, match, step):
    kind = luck.randrange(6)
    if kind == 0:
        return luck.randbytes(luck.randint(0, 3000))
    if kind == 1:
        return b'"' + b"A" * luck.choice([5_000, 100_000, 2_000_000]) + b'"'
    if kind == 2:
        return nested(luck)
    if kind == 3:
        return b"9" * 4000
    return odd_values(luck, match, step)


def headers(luck, port):
    """Mostly the page's own; sometimes another origin, host or kind."""
    found = {"Content-Type": "application/json", "Host": f"127.0.0.1:{port}"}
    odd = luck.randrange(8)
    if odd == 0:
        found["Origin"] = luck.choice(
            ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1", "\xe9"]
        )
    elif odd == 1:
        found["Host"] = luck.choice(
            ["evil.example", f"evil.example:{port}", "127.0.0.1", "[::1]", f"127.0.0.1:{port}.x"]
        )
    elif odd == 2:
        found["Content-Type"] = luck.choice(
            ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
        )
    elif odd == 3:
        found["Sec-Fetch-Site"] = luck.choice(["cross-site", "same-site"])
    elif odd == 4:
        found["X-Long"] = "A" * luck.choice([100, 7_000, 20_000])
    return found


async def not_http(luck, port):
    """Say something else, or leave in the middle of it: returns what came back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    said = luck.choice(
        [luck.randbytes(500), b"GET / HTTP/9.9\r\n\r\n", b"POST /api/act HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n" % port,
         b"POST /api/act HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: -5\r\n\r\n" % port,
         b"POST /api/act HTTP/1.1\r\nContent-Length: 100000000000\r\n\r\nabc",
         b"GET /api/../../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % port, b"\r\n" * 200]
    )  # fmt: skip
    writer.write(said)
    try:
        await writer.drain()
        answer = await asyncio.wait_for(reader.read(4000), 0.02)
    except (TimeoutError, ConnectionError):
        answer = b""
    writer.close()
    return answer


async def one(session, server, luck, match, step):
    """Send one hostile message; returns status and answer."""
    if luck.random() < 0.1:
        return 0, await not_http(luck, server.port)
    path = (
        f"api/{luck.choice(PLACES)}"
        if luck.random() < 0.9
        else luck.choice(["api/x", "page/../server.py", "%00", "a" * 900])
    )
    method = "POST" if luck.random() < 0.9 else luck.choice(["GET", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE"])
    try:
        async with session.request(
            method, server.address + path, data=body(luck, match, step), headers=headers(luck, server.port)
        ) as response:
            return response.status, await response.read()
    except aiohttp.ClientError:
        return 0, b""  # the server has hung up


async def attack(server, messages, seed):
    """Send them, while a game is played over and over; returns what was wrong."""
    luck, wrong, counts = random.Random(seed), [], {}
    async with aiohttp.ClientSession() as honest, aiohttp.ClientSession() as session:
        async with session.get(f"{server.address}api/offer") as response:
            game = (await response.json())["games"][0]["name"]
        moves, seats = [1, 2, 3, 4, 0], ["H1", "person"]
        before = await played(honest, server, game, seats, moves)
        _, target = await ask(session, server, "begin", game=game, seats=seats)
        games, memory = 0, 0
        playing = asyncio.create_task(played(honest, server, game, seats, moves))
        for number in range(messages):
            if number == messages // 5:
                memory = server.memory()  # what a server needs once it has seen a bit of everything
            status, answer = await one(session, server, luck, target["match"], target["step"])
            counts[status] = counts.get(status, 0) + 1
            if status >= 500 and status != 503:
                wrong.append(f"message {number} was answered by status {status}: {answer[:200]}")
            if b"Traceback" in answer or b'File "' in answer:
                wrong.append(f"message {number} got a traceback")
            if playing.done():
                games += 1
                if playing.result() != before:
                    wrong.append("the other game went another way")
                playing = asyncio.create_task(played(honest, server, game, seats, moves))
        if await playing != before:
            wrong.append("the other game went another way")
        growth = server.memory() - memory
    if growth > GROWTH:
        wrong.append(f"memory grew by {growth / 2**20:.1f} MiB")
    if server.process.poll() is not None:
        wrong.append("the server has ended")
    if server.complaints():
        wrong.append(f"the server complained: {server.complaints()[:2000]}")
    print(f"{messages:,} messages, answers by status {dict(sorted(counts.items()))}, {games + 1} other games, "
          f"memory {memory / 2**20:.1f} MiB {growth / 2**20:+.1f}")  # fmt: skip
    return wrong


def main() -> None:
    """Attack a server that has been started for it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with running_server() as server:
        wrong = asyncio.run(attack(server, options.messages, options.seed))
    print("\n".join(wrong[:20]) or "nothing went wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
