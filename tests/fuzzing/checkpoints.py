"""Hostile checkpoints."""

import copy
import io
import pickle
import random
import shutil
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from tests.fuzzing import Accept
from tests.fuzzing.mutations import mutate_bytes, mutate_value
from tests.fuzzing.worker import Ended
from tests.small_runs import train

UPDATE = 16 * 8
UPDATES = 3


class Bomb:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> tuple:
        return (exec, ("raise SystemExit('code was executed')",))


class Filler:
    """Fills the memory when it is unpickled."""

    def __reduce__(self) -> tuple:
        return (bytearray, (1 << 34,))


def as_file(value: Any) -> bytes:
    """The file of a checkpoint."""
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


def as_archive(entries: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    """A zip archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return file.getvalue()


class CheckpointFiles:
    """Files made from a checkpoint of a small run, from which the run is to be resumed."""

    program, update = "fit", UPDATE

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "case"
        self.path = self.folder / "checkpoints" / f"step_{2 * self.update:012}.ckpt"
        options = ["--checkpoints.every", str(2 * self.update), "--checkpoints.keep", "9"]
        whole = self.train(folder / "whole", *options, "--trainer.enable_progress_bar", "false")
        self.config = whole / "config.yaml"
        self.data = (whole / "checkpoints" / self.path.name).read_bytes()
        self.checkpoint = torch.load(io.BytesIO(self.data), weights_only=True)

    @classmethod
    def train(cls, run: Path, *options: str) -> Path:
        """Train the small run."""
        return train(run, *options, steps=UPDATES * cls.update)

    def command(self) -> list[str]:
        """Resume from it."""
        return [self.program, "--config", str(self.config), "--run", str(self.folder), "--ckpt_path", str(self.path)]

    def cases(self, luck: random.Random, number: int) -> Iterator[tuple[str, Accept]]:
        """Write hand-made files, then mutated ones; what was mutated with care may be resumed from."""
        for name, data in self.hand_made().items():
            self.write(data)
            yield name, Accept.NONE
        for _ in range(number):
            if luck.random() < 0.3:
                self.write(mutate_bytes(self.data, luck, 4000))
                yield "bytes", Accept.UNCHANGED
            else:
                changed, name = mutate_value(self.checkpoint, luck)
                self.write(as_file(changed))
                yield name, Accept.ANY

    def write(self, data: bytes) -> None:
        """Write a case into a folder that has nothing else."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.path.parent.mkdir(parents=True)
        self.path.write_bytes(data)

    def hand_made(self) -> dict[str, bytes]:
        """Files that someone thought about."""

        def other(**changes: object) -> bytes:
            return as_file({**self.checkpoint, **changes})

        def weights(change: Any) -> bytes:
            return other(state_dict={name: change(value) for name, value in self.checkpoint["state_dict"].items()})

        zeros, half = b"\0" * (64 << 20), len(self.data) // 2
        spread = torch.zeros(1).expand(1 << 40)
        return {
            "empty": b"",
            "text": b"hello, world" * 100,
            "pickle": pickle.dumps(Bomb()),
            "code": other(env_steps=Bomb()),
            "a filler": other(env_steps=Filler()),
            "a compressed bomb": as_archive({"a/data.pkl": b"\x80\x02N.", "a/data/0": zeros}, zipfile.ZIP_DEFLATED),
            "a flipped bit in the middle": self.data[:half] + bytes([self.data[half] ^ 1]) + self.data[half + 1 :],
            "a whole one, compressed": compressed(self.data),
            "overlapping entries": overlapping(self.data),
            "a long pickle": as_archive({"a/data.pkl": b"\x80\x02" + b"]" * (8 << 20) + b".", "a/version": b"3\n"}),
            "deep lists": other(epoch=deep(200)),
            "a tensor larger than memory": other(env_steps=spread),
            "weights larger than memory": weights(lambda value: torch.zeros(1).expand(1 << 36)),
            "memories larger than memory": other(callbacks=swollen(self.checkpoint["callbacks"])),
            "negative steps": other(env_steps=-1280),
            "steps that are true": other(env_steps=True),
            "steps of half an update": other(env_steps=2 * self.update + 1),
            "more steps than updates": other(env_steps=3 * self.update),
            "no version": other(**{"pytorch-lightning_version": "x.y"}),
            "a bomb of names": other(made_with=laughs()),
            "weights that are not numbers": weights(lambda value: value * float("nan")),
            "whole weights": weights(lambda value: value.long()),
            "other optimiser": other(optimizer_states=[{"state": {}, "param_groups": [{}]}]),
            "no callbacks": other(callbacks=None),
        }

    def changed(self, ended: Ended) -> bool:
        """Whatever was accepted of these was damaged, unless it still says the same."""
        found = torch.load(self.path, weights_only=True)
        return found["env_steps"] != self.checkpoint["env_steps"] or any(
            not torch.equal(value, found["state_dict"][name]) for name, value in self.checkpoint["state_dict"].items()
        )


def deep(levels: int) -> list:
    """Lists in lists."""
    value: list = []
    for _ in range(levels):
        value = [value]
    return value


def laughs() -> dict:
    """A small file that is enormous when it is written out."""
    value: Any = "ha" * 100
    for _ in range(12):
        value = [value] * 10
    return {"game": value}


def compressed(data: bytes) -> bytes:
    """The same archive, its entries compressed."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return as_archive({name: archive.read(name) for name in archive.namelist()}, zipfile.ZIP_DEFLATED)


def swollen(callbacks: dict) -> dict:
    """What callbacks remember, with tensors of a single number that say they have two billion."""
    callbacks = copy.deepcopy(callbacks)
    for state in callbacks.values():
        for rank in state.get("ranks", []):
            tally = rank["tally"].flatten()[:1].view([1] * rank["tally"].dim())
            rank["tally"] = tally.expand([1 << 31, *[-1] * (tally.dim() - 1)])
    return callbacks


def overlapping(data: bytes) -> bytes:
    """An archive whose entries share their bytes: all in its directory point to the first."""
    place = data.rfind(b"PK\x05\x06")
    start = data.find(b"PK\x01\x02")
    directory = bytearray(data[start:place])
    at = 0
    while (at := directory.find(b"PK\x01\x02", at)) >= 0:
        directory[at + 42 : at + 46] = struct.pack("<I", 0)
        at += 4
    return data[:start] + bytes(directory) + data[place:]
