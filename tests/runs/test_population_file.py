import json
import pickle
import struct
import subprocess
import sys

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

import brdiv
from brdiv.games import Reaching
from brdiv.nets import Population
from brdiv.runs import PopulationFileError, load_population, read_about, save_population


@pytest.fixture
def population():
    torch.manual_seed(0)
    return Population(3, 98, 5, [8, 16])


@pytest.fixture
def path(tmp_path, population):
    game = Reaching(size=7, goals=[(0, 0), (6, 6)], payoffs=[1.0, 0.5], horizon=30)
    about = {"method": {"name": "BRDiv", "settings": {}}, "seed": 4, "steps": 1000}
    return save_population(tmp_path / "deep" / "population.safetensors", population, game, about)


def test_what_was_saved_is_loaded(path, population):
    loaded, game, about = brdiv.load_population(path)
    observation, ids = torch.rand(9, 2, 98), torch.randint(3, (9, 2))
    assert torch.equal(loaded(observation, ids), population(observation, ids))
    assert (game.size, game.goals, game.payoffs, game.horizon) == (7, [(0, 0), (6, 6)], [1.0, 0.5], 30)
    assert about["method"]["name"] == "BRDiv"
    assert (about["seed"], about["steps"], about["n_types"], about["hidden"]) == (4, 1000, 3, [8, 16])
    assert about["version"] == brdiv.__version__


def test_it_loads_where_there_is_nothing_but_the_file(path):
    code = f"import brdiv; p = brdiv.load_population({str(path)!r}); print(p.about['n_types'], type(p.game).__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=path.parent)
    assert done.stdout.split() == ["3", "Reaching"]


def test_nothing_unfinished_is_left_beside_it(path):
    assert [file.name for file in path.parent.iterdir()] == ["population.safetensors"]


def test_a_failed_write_leaves_the_old_file(path, population, monkeypatch):
    before = path.read_bytes()

    def full_disk(*_, **__):
        raise OSError("No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full_disk)
    with pytest.raises(OSError, match="No space"):
        save_population(path, population, Reaching())
    assert path.read_bytes() == before


def flip_a_bit(data):
    middle = len(data) - 100
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


def rewrite(**changes):
    """A file whose description differs in some entries, its weights unharmed."""

    def change(data):
        (size,) = struct.unpack("<Q", data[:8])
        header = json.loads(data[8 : 8 + size])
        about = json.loads(header["__metadata__"]["brdiv"])
        about.update(changes)
        header["__metadata__"]["brdiv"] = json.dumps(about)
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        return struct.pack("<Q", len(text)) + text + data[8 + size :]

    return change


class Bomb:
    def __reduce__(self):
        return (exec, ("raise SystemExit('code was executed')",))


DAMAGE = {
    "empty": (lambda data: b"", "not a population file"),
    "truncated": (lambda data: data[: len(data) // 2], "damaged"),
    "header cut": (lambda data: data[:20], "damaged"),
    "bit flipped": (flip_a_bit, "checksum"),
    "text": (lambda data: b"hello, world" * 40, "not a population file"),
    "pickle": (lambda data: pickle.dumps(Bomb()), "not a population file"),
    "newer format": (rewrite(format=99), "format 99"),
    "not a known game": (rewrite(game={"name": "Chess", "settings": {}}), "plays Chess"),
    "settings of no game": (rewrite(game={"name": "Reaching", "settings": {"wind": 3}}), "wind"),
    "no game at all": (rewrite(game="Reaching"), "doesn't describe"),
    "a class that is no game": (rewrite(game={"name": "TwoPlayerEnv", "settings": {}}), "plays TwoPlayerEnv"),
    "sizes of another": (rewrite(n_types=5), "doesn't describe"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_or_foreign_file_gets_a_clear_error(kind, path):
    damage, complaint = DAMAGE[kind]
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(PopulationFileError, match=complaint) as caught:
        load_population(path)
    assert str(path) in str(caught.value)


def test_another_programs_safetensors_file_is_refused(tmp_path):
    save_file({"weight": torch.zeros(3)}, tmp_path / "other.safetensors")
    with pytest.raises(PopulationFileError, match="not one that brdiv wrote"):
        load_population(tmp_path / "other.safetensors")


def test_a_folder_and_a_missing_file_are_told_apart(tmp_path):
    with pytest.raises(PopulationFileError, match="not a population file"):
        load_population(tmp_path)
    with pytest.raises(FileNotFoundError, match="no population file"):
        load_population(tmp_path / "nothing")


def test_what_a_file_says_of_itself_is_read_without_building_its_game(path):
    assert read_about(path)["seed"] == 4
    text = path.read_bytes().replace(b"Reaching", b"Untaught")  # as long, so that the file stays whole
    path.write_bytes(text)
    assert read_about(path)["game"]["name"] == "Untaught"
    with pytest.raises(PopulationFileError, match="not known here"):
        load_population(path)
    path.write_bytes(b"nothing")
    with pytest.raises(PopulationFileError, match="damaged"):
        read_about(path)


class OwnReaching(Reaching):
    """A game that someone brought."""

    def prize(self, positions: Tensor) -> Tensor:
        return 2 * super().prize(positions)


def test_a_game_of_ones_own_is_found_once_it_is_imported(tmp_path):
    path = save_population(tmp_path / "own.safetensors", Population(2, 50, 5, [4]), OwnReaching())
    assert isinstance(load_population(path).game, OwnReaching)
