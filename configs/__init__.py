"""The configs that come with the package, found from a checkout and from an installed wheel alike."""

from pathlib import Path

from brdiv.errors import MissingFileError, UserError

FOLDER = Path(__file__).parent


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
        raise MissingFileError(f"no config file {name}; shipped ones are: {', '.join(shipped)}")
    return found


def check_text(path: Path) -> None:
    """Refuse what is not text before a parser trips over it."""
    try:
        path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UserError(f"config file {path} is not text") from None
