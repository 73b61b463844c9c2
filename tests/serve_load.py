"""Play many games at once and see how long a move takes to be answered: `python -m tests.serve_load`.

Every player moves again half a second after it is answered, or at once with `--think 0`; all games show what
their agent is likely to do. Not a test of the suite, because it is a measurement.
"""

import argparse
import asyncio
import itertools
import random
import sys
import time
from statistics import median, quantiles

import aiohttp

from tests.serve.running import ask, running_server

GAMES = {"Reaching": 5, "LBF": 6, "Cooking": 8}


async def player(session, server, game, seats, seconds, think, luck):
    """Play one game after the other, and return how long each move took."""
    times, end = [], time.perf_counter() + seconds
    answer = None
    await asyncio.sleep(think * luck.random())
    while time.perf_counter() < end:
        if answer is None or answer["end"]:
            follows = {"follows": answer["match"]} if answer else {}
            status, answer = await ask(session, server, "begin", game=game, seats=seats, tells=True, **follows)
            assert status == 200, answer
        action = luck.randrange(GAMES[game])
        start = time.perf_counter()
        status, answer = await ask(
            session, server, "act", match=answer["match"], step=answer["step"], action=action, tells=True
        )
        times.append(time.perf_counter() - start)
        assert status == 200, answer
        await asyncio.sleep(think)
    return times


async def measure(server, games, seconds, think):
    """Let them all play at once; the seconds of every move."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        async with session.get(f"{server.address}api/offer") as response:
            offer = {game["name"]: game for game in (await response.json())["games"]}
        luck = random.Random(0)
        players = []
        for number, game in zip(range(games), itertools.cycle(GAMES), strict=False):
            seat = number // len(GAMES) % 2
            partners = [agent["id"] for agent in offer[game]["seats"][1 - seat]]
            partner = partners[number % len(partners)]
            seats = ["person", partner] if seat == 0 else [partner, "person"]
            players.append(player(session, server, game, seats, seconds, think, luck))
        return [taken for times in await asyncio.gather(*players) for taken in times]


def main() -> None:
    """Print the median, and fail where it is too long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", help="populations to play with, besides heuristics")
    parser.add_argument("--games", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--think", type=float, default=0.5, help="seconds between an answer and the next move")
    parser.add_argument("--limit", type=float, default=0.1, help="longest median in seconds")
    options = parser.parse_args()
    with running_server(*options.runs) as server:
        times = asyncio.run(measure(server, options.games, options.seconds, options.think))
    middle, late = median(times), quantiles(times, n=20)[-1]
    print(f"{options.games} games at once, {len(times):,} moves in {options.seconds:g} s, thinking {options.think:g} s")
    print(f"median {1000 * middle:.1f} ms, 95 % within {1000 * late:.1f} ms")
    sys.exit(middle >= options.limit)


if __name__ == "__main__":
    main()
