"""What a page may say, and how everything else is refused."""

import json
from typing import Any

MOST_BYTES = 4096
"""No message of the page is longer than a few hundred."""


class Refusal(Exception):
    """A message that is not answered as it hoped; says why in one line, with an HTTP status."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class Message:
    """A JSON object with only those keys that are known."""

    def __init__(self, body: bytes, known: frozenset[str]) -> None:
        try:
            values = json.loads(body)
        except (ValueError, RecursionError):
            raise Refusal(400, "the message is not JSON") from None
        if not isinstance(values, dict):
            raise Refusal(400, "the message is not a JSON object")
        if not values.keys() <= known:
            raise Refusal(400, f"the message has other keys than {', '.join(sorted(known))}")
        self.values: dict[str, Any] = values

    def text(self, key: str) -> str:
        """Read some text."""
        value = self.values.get(key)
        if not isinstance(value, str) or len(value) > MOST_BYTES:
            raise Refusal(400, f"{key} must be text")
        return value

    def texts(self, key: str, number: int) -> list[str]:
        """Read so many texts."""
        value = self.values.get(key)
        if not isinstance(value, list) or len(value) != number or not all(isinstance(item, str) for item in value):
            raise Refusal(400, f"{key} must be a list of {number} texts")
        return value

    def whole(self, key: str, least: int, most: int, default: int | None = None) -> int:
        """Read a whole number."""
        value = self.values.get(key, default)
        if type(value) is not int or not least <= value <= most:  # True is an int, too
            raise Refusal(400, f"{key} must be a whole number from {least} to {most}")
        return value

    def flag(self, key: str) -> bool:
        """Read true or false; what isn't there is false."""
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            raise Refusal(400, f"{key} must be true or false")
        return value
