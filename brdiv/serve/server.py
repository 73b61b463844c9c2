"""The server: a page, and the few messages that it sends."""

import asyncio
import logging
import secrets
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from aiohttp import web

from brdiv.errors import UserError
from brdiv.serve.guard import guard
from brdiv.serve.keeping import Keeper
from brdiv.serve.match import PERSON, Match
from brdiv.serve.messages import MOST_BYTES, Message, Refusal
from brdiv.serve.offers import Offer
from brdiv.serve.sessions import Session, Sessions

PAGE = {
    "/": ("page.html", "text/html"),
    "/page.js": ("page.js", "text/javascript"),
    "/board.js": ("board.js", "text/javascript"),
    "/page.css": ("page.css", "text/css"),
}
ADDRESS = "127.0.0.1"
LONGEST_SEED = 2**31 - 1


class Server:
    """Answers the messages of the page.

    Args:
        offers: Games, and who plays them.
        sessions: Episodes that are being played.
        keeper: Where episodes are kept.

    """

    def __init__(self, offers: Sequence[Offer], sessions: Sessions, keeper: Keeper) -> None:
        self.offers = {offer.name: offer for offer in offers}
        self.sessions = sessions
        self.keeper = keeper
        self.measuring = asyncio.Lock()

    async def offer(self, request: web.Request) -> web.Response:
        """Say what can be played with whom."""
        games = [offer.described() for offer in self.offers.values()]
        return web.json_response({"games": games, "person": PERSON, "keeps": self.keeper.path is not None})

    async def begin(self, request: web.Request) -> web.Response:
        """Begin an episode; the one that it follows at the same page is ended."""
        message = await read(request, "game", "seats", "seed", "keep", "tells", "follows")
        offer = self.find_offer(message)
        names = message.texts("seats", 2)
        if names == [PERSON, PERSON]:
            raise Refusal(400, "one seat needs an agent")
        agents = [None if name == PERSON else offer.seats[seat].get(name) for seat, name in enumerate(names)]
        if any(agent is None and name != PERSON for agent, name in zip(agents, names, strict=True)):
            raise Refusal(400, "there is no such agent for this seat")
        seed = message.whole("seed", 0, LONGEST_SEED, secrets.randbelow(LONGEST_SEED))
        keep, tells = message.flag("keep"), message.flag("tells")
        if "follows" in message.values:
            self.sessions.end(message.text("follows"))
        self.sessions.make_room()
        match = Match(offer.game, names, agents, seed, offer.believer(names))
        name = self.sessions.add(match, keep)
        return self.answer(name, tells)

    async def see(self, request: web.Request) -> web.Response:
        """Show an episode from its start, to a page that was loaded anew."""
        message = await read(request, "match", "tells")
        return self.answer(message.text("match"), message.flag("tells"))

    async def act(self, request: web.Request) -> web.Response:
        """Play the step that somebody has chosen an action for, or the next one where only agents play."""
        message = await read(request, "match", "step", "action", "tells")
        name = message.text("match")
        session = self.sessions.find(name)
        match = session.match
        if match.over:
            raise Refusal(409, "this game is over")
        if message.whole("step", 0, match.game.horizon) != match.step:
            raise Refusal(409, f"it is step {match.step} now")
        last = match.game.n_actions - 1
        choice = message.whole("action", 0, last) if match.waits_for_person else message.whole("action", 0, 0, 0)
        match.tells = message.flag("tells")
        match.advance(choice)
        self.keeper.keep(session)
        return self.answer(name, match.tells, first=match.step)

    async def agree(self, request: web.Request) -> web.Response:
        """Note whether a person agrees that the episode is kept."""
        message = await read(request, "match", "keep")
        session = self.sessions.find(message.text("match"))
        session.keep = message.flag("keep")
        self.keeper.keep(session)
        return web.json_response({"kept": session.kept})

    async def end(self, request: web.Request) -> web.Response:
        """End an episode."""
        self.sessions.end((await read(request, "match")).text("match"))
        return web.json_response({})

    async def matrix(self, request: web.Request) -> web.Response:
        """Show what every pair of a population earns."""
        message = await read(request, "game", "population")
        offer, label = self.find_offer(message), message.text("population")
        if label not in offer.populations:
            raise Refusal(404, "there is no such population")
        async with self.measuring:  # in a thread, so that nobody who plays has to wait
            returns = await asyncio.get_running_loop().run_in_executor(None, offer.matrix, label)
        return web.json_response({"returns": returns})

    def find_offer(self, message: Message) -> Offer:
        """Look up the game that a message names."""
        offer = self.offers.get(message.text("game"))
        if offer is None:
            raise Refusal(404, "there is no such game")
        return offer

    def answer(self, name: str, tells: bool, first: int = 0) -> web.Response:
        """Show an episode from a moment on."""
        session = self.sessions.find(name)
        session.match.tells = tells
        session.match.tell()
        return web.json_response({"match": name, **about(self, session), **session.match.shown(first)})


def about(server: Server, session: Session) -> dict[str, Any]:
    """Say what an episode is of, and who plays it."""
    match = session.match
    game = next(name for name, offer in server.offers.items() if offer.game is match.game)
    return {"game": game, "seats": match.names, "keep": session.keep, "kept": session.kept}


async def read(request: web.Request, *known: str) -> Message:
    """Read a message that may have some keys."""
    try:
        body = await request.read()
    except web.HTTPRequestEntityTooLarge:
        raise Refusal(413, f"messages have at most {MOST_BYTES} bytes") from None
    return Message(body, frozenset(known))


def page_handler(name: str, kind: str) -> Any:
    """Build what answers with one file of the page."""
    text = resources.files("brdiv.serve").joinpath("page", name).read_text(encoding="utf-8")

    async def handler(request: web.Request) -> web.Response:
        return web.Response(text=text, content_type=kind)

    return handler


def build_app(
    offers: Sequence[Offer], save: Path | None = None, most_games: int = 200, idle: float = 1800.0
) -> web.Application:
    """Build the application; it opens no file but ``save``."""
    server = Server(offers, Sessions(most_games, idle), Keeper(save))
    app = web.Application(middlewares=[guard], client_max_size=MOST_BYTES)
    for path, (name, kind) in PAGE.items():
        app.router.add_get(path, page_handler(name, kind))
    app.router.add_get("/api/offer", server.offer)
    for name in ("begin", "see", "act", "agree", "end", "matrix"):
        app.router.add_post(f"/api/{name}", getattr(server, name))
    return app


async def serve_until_stopped(app: web.Application, port: int) -> None:
    """Serve on this machine alone, and say where."""
    quiet = logging.getLogger("brdiv.serve.http")
    quiet.setLevel(
        logging.CRITICAL
    )  # what is not even HTTP is refused without a word; `guard` reports our own mistakes
    runner = web.AppRunner(app, access_log=None, logger=quiet, keepalive_timeout=30)
    await runner.setup()
    try:
        await web.TCPSite(runner, ADDRESS, port).start()
    except OSError as error:
        await runner.cleanup()
        raise UserError(f"port {port} can't be used: {error.strerror or error}; choose another by --port") from None
    found = runner.addresses[0][1]
    print(f"open http://{ADDRESS}:{found}/ in a browser; Ctrl-C ends it", flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()
