"""Hostile population files."""

import hashlib
import json
import os
import random
import struct
from collections.abc import Iterator
from pathlib import Path

import torch

from brdiv.games import Reaching
from brdiv.nets import Population
from brdiv.runs import load_population, save_population
from tests.fuzzing import Accept
from tests.fuzzing.mutations import mutate_bytes, mutate_value
from tests.fuzzing.worker import Ended

KEY, CHECKSUM = "brdiv", "brdiv_sha256"
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


def forge(header: dict, about: object) -> dict:
    """Give a header another description, with the right checksum."""
    text = about if isinstance(about, str) else json.dumps(about)
    own = {**header["__metadata__"], KEY: text, CHECKSUM: hashlib.sha256(text.encode()).hexdigest()}
    return {**header, "__metadata__": own}


def say_otherwise(path: Path, **changes: object) -> None:
    """Have a population file say something else of itself, with the right checksum."""
    header, weights = unpack(path.read_bytes())
    path.write_bytes(pack(forge(header, {**json.loads(header["__metadata__"][KEY]), **changes}), weights))


class PopulationFiles:
    """Files made from one small population, and what may come of them."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "case.safetensors"
        about = {
            "method": {"name": "BRDiv", "label": "BRDiv", "settings": {"pressure": 1.0}},
            "seed": 3,
            "steps": 1280,
            "finished": True,
        }
        save_population(self.path, Population(3, 50, 5, [8, 6]), Reaching(), about)
        self.data = self.path.read_bytes()
        self.whole = load_population(self.path)

    def command(self) -> list[str]:
        """Show it."""
        return ["show", str(self.path), "--episodes", "0"]

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
        about = json.loads(header["__metadata__"][KEY])
        for _ in range(number):
            kind = luck.randrange(4)
            if kind == 0:
                name, data = "bytes", mutate_bytes(self.data, luck, len(self.data) - len(weights))
            elif kind == 1:
                changed, name = mutate_value(header, luck)
                data = pack(changed, weights)
            else:
                changed, name = mutate_value(about, luck)
                told = forge(header, changed)
                if kind == 2:
                    told["__metadata__"][CHECKSUM] = header["__metadata__"][CHECKSUM]
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

    def hand_made(self) -> dict[str, bytes]:
        """Files that someone thought about."""
        header, weights = unpack(self.data)
        about = json.loads(header["__metadata__"][KEY])

        def described(**changes: object) -> bytes:
            return pack(forge(header, {**about, **changes}), weights)

        def game(name: str = "Reaching", **settings: object) -> bytes:
            return described(game={"name": name, "module": "brdiv.games", "settings": settings})

        return {
            "empty": b"",
            "a header of 100 MB": struct.pack("<Q", 100 << 20) + b" " * (1 << 20),
            "a longer header than file": struct.pack("<Q", 2**63) + self.data[8:],
            "deep JSON": pack(forge(header, "[" * 100_000), weights),
            "deep description": pack(forge(header, '{"a":' * 50_000 + "1" + "}" * 50_000), weights),
            "a number of a million digits": pack(forge(header, '{"seed": ' + "9" * 400_000 + "}"), weights),
            "a trillion types": described(n_types=10**12),
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
            "not a number": pack(forge(header, json.dumps({**about, "seed": float("nan")})), weights),
            "weights that are not numbers": self.with_weights(float("nan")),
            "infinite weights": self.with_weights(float("inf")),
            "only zeros": b"\0" * 10_000,
        }  # fmt: skip

    def with_weights(self, number: float) -> bytes:
        """A file with right checksums whose weights are no use."""
        population = Population(3, 50, 5, [8, 6])
        population.layers[0].bias.data[:] = number
        self.remove()
        return save_population(self.path, population, Reaching()).read_bytes()

    def changed(self, ended: Ended) -> bool:
        """Whether an accepted file says something else than the one that was written, or plays otherwise."""
        found = load_population(self.path)
        ours, theirs = self.whole.population.state_dict(), found.population.state_dict()
        return found.about != self.whole.about or not all(torch.equal(ours[name], theirs[name]) for name in ours)
