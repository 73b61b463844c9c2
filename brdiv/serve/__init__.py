"""A page on this machine where people play the games with agents, or watch them."""

from brdiv.serve.offers import Offer, find_offers
from brdiv.serve.server import build_app, serve_until_stopped

__all__ = ["Offer", "build_app", "find_offers", "serve_until_stopped"]
