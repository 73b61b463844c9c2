"""Who may talk to the server: pages that it has sent itself, on this machine."""

import logging
from collections.abc import Awaitable, Callable

from aiohttp import web

from brdiv.serve.messages import Refusal

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Middleware = Callable[[web.Request, Handler], Awaitable[web.StreamResponse]]

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}
LOOPBACK = ("127.0.0.1", "localhost")

log = logging.getLogger(__name__)


def refusal(status: int, reason: str) -> web.Response:
    """Answer that something is not done."""
    return web.json_response({"error": reason}, status=status)


def check_origin(request: web.Request) -> None:
    """Refuse other names for this machine (DNS can be made to lie), and pages of other origins."""
    transport = request.transport
    port = transport.get_extra_info("sockname")[1] if transport else 0
    ours = {f"{name}:{port}" for name in LOOPBACK}
    if request.headers.get("Host", "") not in ours:
        raise Refusal(403, "this server answers only to its own address")
    origin = request.headers.get("Origin")
    if origin is not None and origin not in {f"http://{name}" for name in ours}:
        raise Refusal(403, "pages of other origins are refused")
    site = request.headers.get("Sec-Fetch-Site", "none")
    if request.path.startswith("/api/") and site not in {"same-origin", "none"}:
        raise Refusal(403, "pages of other origins are refused")
    if request.method == "POST" and request.content_type != "application/json":
        raise Refusal(415, "messages must be application/json")


@web.middleware
async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Check who asks; answer mistakes in one line, and keep tracebacks to the terminal."""
    try:
        check_origin(request)
        response = await handler(request)
    except Refusal as no:
        response = refusal(no.status, no.reason)
    except web.HTTPException as no:
        response = refusal(no.status, no.reason)
    except Exception:
        log.exception("a message could not be answered")
        response = refusal(500, "something went wrong; the terminal of the server says what")
    response.headers.update(HEADERS)
    return response
