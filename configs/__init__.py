"""The configs that come with the package, found from a checkout and from an installed wheel alike."""

from pathlib import Path

import yaml

from brdiv.errors import MissingFileError, UserError
from brdiv.text import has_endless_number, plain

FOLDER = Path(__file__).parent
MOST_BYTES, MOST_ENTRIES = 1 << 20, 100_000


def shipped_configs() -> dict[str, Path]:
    """Every shipped config by name: its path below this folder without the ending."""
    return {path.relative_to(FOLDER).with_suffix("").as_posix(): path for path in sorted(FOLDER.rglob("*.yaml"))}


def find_config(name: str) -> Path:
    """Find a config file: a path as it stands, else a shipped one by name, `configs/` and `.yaml` being optional."""
    path = Path(name)
    if path.is_file():
        check_text(path)
        return path
    shipped = shipped_configs()
    found = shipped.get(name.removeprefix("configs/").removesuffix(".yaml"))
    if found is None:
        if path.exists() and not path.is_dir():
            raise UserError(f"{plain(path, 1000)} is no config file, but a device or a pipe")
        raise MissingFileError(f"no config file {name}; shipped ones are: {', '.join(shipped)}")
    return found


def check_text(path: Path) -> None:
    """Refuse what is no text of a config before a parser trips over it: no YAML, or more of it than it seems."""
    shown = plain(path, 1000)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UserError(f"config file {shown} is larger than {MOST_BYTES:,} bytes")
        text = path.read_text(encoding="utf-8")
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        entries = 0 if root is None else count_entries(root, {})
    except UnicodeDecodeError:
        raise UserError(f"config file {shown} is not text") from None
    except OSError as error:
        raise UserError(f"config file {shown} can't be read: {error.strerror or error}") from None
    except (yaml.YAMLError, ValueError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"config file {shown} is not YAML: {plain(' '.join(str(error).split()))}") from None
    except RecursionError:
        raise UserError(f"config file {shown} is nested too deeply, or refers to itself") from None
    if entries > MOST_ENTRIES:
        raise UserError(f"config file {shown} has more than {MOST_ENTRIES:,} entries, its aliases written out")
    if root is not None and not isinstance(root, yaml.MappingNode):
        raise UserError(f"config file {shown} holds no settings: they are written as name: value")


def count_entries(node: yaml.Node, known: dict[int, int]) -> int:
    """Count what a node stands for if every alias is written out, by counting each node once."""
    if id(node) not in known:
        if isinstance(node, yaml.ScalarNode) and "\0" in node.value:
            raise ValueError("it has a null byte, which ends what a system takes for a name")
        if isinstance(node, yaml.ScalarNode) and has_endless_number(node.value):
            raise ValueError("it has a number of a thousand digits and more")
        inner = node.value if isinstance(node, yaml.SequenceNode | yaml.MappingNode) else []
        nodes = [part for pair in inner for part in (pair if isinstance(pair, tuple) else (pair,))]
        known[id(node)] = 1 + sum(count_entries(part, known) for part in nodes)
    return known[id(node)]
