"""Seeded mutations: of bytes, and of values nested in dictionaries and lists."""

import copy
import math
import random
from typing import Any

ODD = [
    None, True, False, -1, 0, 1, 2, -1280, 2**31, 2**32, 2**53, 2**63, 10**12, 10**30, -(2**63), 0.5, -0.5, 1e39, 1e308,
    1e-46, math.nan, math.inf, -math.inf, "", "x", "5", "null", "\x1b[31mred", "$\\frac$", "a\nb", "=1+1", "x" * 5000,
    "../../etc/passwd", "os.system", [], [1], ["x"], [[]], [None], {}, {"a": 1}, {"name": "x"}, [0] * 1000,
]  # fmt: skip


def mutate_bytes(data: bytes, luck: random.Random, front: int = 0) -> bytes:
    """Flip, set, cut, insert or swap bytes; half of the time within the first ``front`` bytes, if there is such."""
    data = bytearray(data)
    for _ in range(luck.choice([1, 1, 1, 2, 8])):
        reach = front if front and luck.random() < 0.5 else len(data)
        place = luck.randrange(max(1, min(reach, len(data))))
        kind = luck.randrange(7)
        if not data:
            break
        if kind == 0:
            data[place] ^= 1 << luck.randrange(8)
        elif kind == 1:
            data[place] = luck.choice([0, 255, 34, 48, 49, 50, 123, 91, luck.randrange(256)])
        elif kind == 2:
            del data[place:]
        elif kind == 3:
            del data[place : place + luck.randrange(1, 64)]
        elif kind == 4:
            data[place:place] = luck.randbytes(luck.randrange(1, 64))
        elif kind == 5:
            other = luck.randrange(len(data))
            data[place : place + 32] = data[other : other + 32]
        else:
            data[place : place + 8] = luck.choice([b"\xff" * 8, b"\0" * 8, (2**40).to_bytes(8, "little")])
    return bytes(data)


def places(value: Any, path: tuple = (), depth: int = 12) -> list[tuple]:
    """Every place in nested dictionaries and lists."""
    found = [path] if path else []
    if depth and isinstance(value, dict):
        for key, inner in value.items():
            found += places(inner, (*path, key), depth - 1)
    elif depth and isinstance(value, list):
        for number, inner in enumerate(value):
            found += places(inner, (*path, number), depth - 1)
    return found


def mutate_value(value: Any, luck: random.Random) -> tuple[Any, str]:
    """Replace, remove or add something somewhere; returns what came out, and what was done."""
    value = copy.deepcopy(value)
    path = luck.choice(places(value))
    at = value
    for key in path[:-1]:
        at = at[key]
    kind = luck.randrange(10)
    if kind == 0:
        del at[path[-1]]
        return value, f"without {path}"
    if kind == 1 and isinstance(at, dict):
        at[luck.choice(["x", "", "class_path", "init_args"])] = luck.choice(ODD)
        return value, f"something beside {path}"
    at[path[-1]] = luck.choice(ODD)
    return value, f"{path} = {str(at[path[-1]])[:60]!r}"
