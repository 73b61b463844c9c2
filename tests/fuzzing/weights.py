"""Hostile files of weights and what they are of: what populations and learners have in common."""

import hashlib
import json
import os
import random
import struct
from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from tests.fuzzing import Accept
from tests.fuzzing.mutations import mutate_bytes, mutate_value
from tests.fuzzing.worker import Ended

HARMLESS = {"escape sequences"}  # text, and shown as text


def unpack(data: bytes) -> tuple[dict, bytes]:
    """Header and weights of a safetensors file."""
    (size,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + size]), data[8 + size :]


def pack(header: dict, weights: bytes) -> bytes:
    """The file of a header and weights."""
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + weights


def forge(header: dict, about: object, key: str) -> dict:
    """Give a header another description, with the right checksum."""
    text = about if isinstance(about, str) else json.dumps(about)
    own = {**header["__metadata__"], key: text, f"{key}_sha256": hashlib.sha256(text.encode()).hexdigest()}
    return {**header, "__metadata__": own}


class WeightFiles:
    """Files made from a small one, and what may come of them."""

    key = ""  # of the metadata that has the description

    def __init__(self, folder: Path) -> None:
        self.path = folder / "case.safetensors"
        self.write_whole()
        self.data = self.path.read_bytes()
        self.whole = self.load()

    @abstractmethod
    def write_whole(self) -> None:
        """Write the small file."""

    @abstractmethod
    def load(self) -> Any:
        """Load the file that is there."""

    @abstractmethod
    def weights(self, loaded: Any) -> dict[str, torch.Tensor]:
        """The weights of what was loaded."""

    @abstractmethod
    def command(self) -> list[str]:
        """What loads it."""

    def cases(self, luck: random.Random, number: int) -> Iterator[tuple[str, Accept]]:
        """Write hand-made files, then mutated ones; each is named, with whether it may be accepted."""
        for name, data in self.hand_made().items():
            self.write(data)
            yield name, Accept.ANY if name in HARMLESS else Accept.NONE
        self.remove()
        os.mkfifo(self.path)
        yield "a pipe", Accept.NONE
        self.remove()
        self.path.symlink_to("/dev/zero")
        yield "a device", Accept.NONE
        self.remove()
        header, weights = unpack(self.data)
        about = json.loads(header["__metadata__"][self.key])
        for _ in range(number):
            kind = luck.randrange(4)
            if kind == 0:
                name, data = "bytes", mutate_bytes(self.data, luck, len(self.data) - len(weights))
            elif kind == 1:
                changed, name = mutate_value(header, luck)
                data = pack(changed, weights)
            else:
                changed, name = mutate_value(about, luck)
                told = forge(header, changed, self.key)
                if kind == 2:
                    told["__metadata__"][f"{self.key}_sha256"] = header["__metadata__"][f"{self.key}_sha256"]
                data = pack(told, weights)
            self.write(data)
            yield name, Accept.ANY if kind == 3 else Accept.UNCHANGED

    def remove(self) -> None:
        """Make room, whatever lies there."""
        self.path.unlink(missing_ok=True)

    def write(self, data: bytes) -> None:
        """Write a case."""
        self.remove()
        self.path.write_bytes(data)

    def described(self, **changes: object) -> bytes:
        """A file that says something else of itself, with the right checksum."""
        header, weights = unpack(self.data)
        about = json.loads(header["__metadata__"][self.key])
        return pack(forge(header, {**about, **changes}, self.key), weights)

    def game(self, name: str = "Reaching", **settings: object) -> bytes:
        """A file of another game."""
        return self.described(game={"name": name, "module": "brdiv.games", "settings": settings})

    def hand_made(self) -> dict[str, bytes]:
        """Files that someone thought about."""
        header, weights = unpack(self.data)
        about = json.loads(header["__metadata__"][self.key])

        def said(text: object) -> bytes:
            return pack(forge(header, text, self.key), weights)

        described, game = self.described, self.game
        return {
            "empty": b"",
            "a header of 100 MB": struct.pack("<Q", 100 << 20) + b" " * (1 << 20),
            "a longer header than file": struct.pack("<Q", 2**63) + self.data[8:],
            "deep JSON": said("[" * 100_000),
            "deep description": said('{"a":' * 50_000 + "1" + "}" * 50_000),
            "a number of a million digits": said('{"seed": ' + "9" * 400_000 + "}"),
            "a trillion neurons": described(hidden=[10**12]),
            "a million layers": described(hidden=[1] * 100_000),
            "a grid of a million": game(size=10**6),
            "a grid larger than memory": game(size=500),
            "a billion foods": game("LBF", foods=10**9),
            "a field of a thousand": game("LBF", size=1000, foods=1),
            "many placements": game("LBF", size=33, foods=3),
            "an episode without end": game(horizon=10**15),
            "infinite payoff": game(payoffs=[1e39, 1, 1, 1]),
            "payoff that is nothing": game(payoffs=[1e-46, 1, 1, 1]),
            "goals that are none": game(goals=[[0, 0, 0], [1], "ab", None]),
            "an abstract game": game("Game"),
            "no game": game("Policies"),
            "a game of another module": described(game={"name": "Popen", "module": "subprocess", "settings": {}}),
            "an external environment": described(
                game={"name": "PettingZoo", "module": "brdiv.rollouts", "settings": {"module": "antigravity"}}
            ),
            "escape sequences": described(
                method={"name": "\x1b]0;title\x07\x1b[2J", "settings": {"\x1b[31m": "\ud800"}}
            ),
            "formats": described(format=True),
            "a future format": described(format=3),
            "not a number": said({**about, "seed": float("nan")}),
            "weights that are not numbers": self.with_weights(float("nan")),
            "infinite weights": self.with_weights(float("inf")),
            "only zeros": b"\0" * 10_000,
            "a list where words are": described(version=["x"]),
        }  # fmt: skip

    @abstractmethod
    def with_weights(self, number: float) -> bytes:
        """A file with right checksums whose weights are no use."""

    def changed(self, ended: Ended) -> bool:
        """Whether an accepted file says something else than the one that was written, or plays otherwise."""
        found = self.load()
        ours, theirs = self.weights(self.whole), self.weights(found)
        return found.about != self.whole.about or not all(torch.equal(ours[name], theirs[name]) for name in ours)
