"""Unpacking a checkpoint without running code that it may hold, and without more memory than the file has bytes."""

import pickletools
import stat
import zipfile
from pathlib import Path
from typing import Any

import torch

MAGIC = b"PK\x03\x04"
MOST_PICKLED = 1 << 20  # bytes of what is not a tensor; a checkpoint has some thirty thousand
MOST_ENTRIES = 100_000
DEEPEST = 20
KNOWN = {"collections OrderedDict", "torch._utils _rebuild_tensor_v2", "torch._utils _rebuild_parameter"}
"""What a checkpoint may call for. Torch allows more, some of which fills the memory: `bytearray(2**40)`."""


class UnpackError(Exception):
    """Why a file can't be unpacked."""


def unpack(path: Path) -> Any:
    """Unpack a checkpoint: plain values and tensors, none larger than the file."""
    size = check_regular(path)
    with zipfile.ZipFile(path) as archive:
        check_archive(archive, size)
        damaged = archive.testzip()  # torch doesn't look at the checksums that it writes
        if damaged is not None:
            raise UnpackError(f"{damaged} doesn't match its checksum")
        check_pickle(archive)
    value = torch.load(path, map_location="cpu", weights_only=True)
    check_plain(value, size)
    return value


def check_regular(path: Path) -> int:
    """Refuse pipes, devices and whatever is no zip archive from its first byte on; returns the file's size."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise UnpackError("it is no file, but a device or a pipe")
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise UnpackError("it does not begin as one")
    return found.st_size


def check_archive(archive: zipfile.ZipFile, size: int) -> None:
    """Refuse what would unpack to more than the file holds: entries that are compressed, or that overlap."""
    entries = archive.infolist()
    if len(entries) > MOST_ENTRIES:
        raise UnpackError(f"it has {len(entries):,} entries")
    if any(entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size for entry in entries):
        raise UnpackError("it is compressed, which checkpoints are not")
    if sum(entry.file_size for entry in entries) > size or len({entry.filename for entry in entries}) < len(entries):
        raise UnpackError("its entries overlap")


def check_pickle(archive: zipfile.ZipFile) -> None:
    """Refuse what calls for anything but tensors and dictionaries, before it is called."""
    pickled = [entry for entry in archive.infolist() if entry.filename.endswith("/data.pkl")]
    if len(pickled) != 1 or pickled[0].file_size > MOST_PICKLED:
        raise UnpackError("what it says beside tensors is missing, or too long")
    for operation, argument, _ in pickletools.genops(archive.read(pickled[0])):
        if operation.name in {"GLOBAL", "STACK_GLOBAL", "INST"} and not is_known(str(argument)):
            raise UnpackError(f"it calls for {str(argument)[:60]}")


def is_known(name: str) -> bool:
    """Whether a checkpoint may call for something."""
    module, _, what = name.partition(" ")
    return name in KNOWN or (module in {"torch", "torch.storage"} and what.endswith("Storage"))


def check_plain(value: Any, size: int) -> None:
    """Refuse tensors that would take more than the file when they are copied, and nesting without end.

    What stands in several places is looked at once: a small file can be enormous when it is written out.
    """
    level, seen = [value], {id(value)}
    for _ in range(DEEPEST):
        inner = [part for found in level for part in parts(found)]
        for found in level:
            check_leaf(found, size)
        level = list({id(part): part for part in inner if id(part) not in seen}.values())
        seen.update(map(id, level))
    if level:
        raise UnpackError("it is nested too deeply")


def parts(value: Any) -> list[Any]:
    """What a container holds."""
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    return list(value) if isinstance(value, list | tuple) else []


def check_leaf(value: Any, size: int) -> None:
    """Refuse what is no plain value, or larger than the file."""
    if isinstance(value, torch.Tensor):
        if value.layout is not torch.strided or value.device.type != "cpu" or value.is_quantized:
            raise UnpackError("one of its tensors is of an unknown kind")
        if value.numel() * value.element_size() > size:
            raise UnpackError("one of its tensors is larger than the file")
    elif type(value) is int and value.bit_length() > 63:
        raise UnpackError("one of its numbers is too large")
    elif not isinstance(value, dict | list | tuple | str | int | float | None):
        raise UnpackError(f"it holds a {type(value).__name__}")
