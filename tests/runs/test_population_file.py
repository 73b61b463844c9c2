import hashlib
import json
import os
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


def test_the_same_population_gives_the_same_bytes(path, population, tmp_path):
    _, game, about = load_population(path)
    kept = {name: about[name] for name in ("method", "seed", "steps")}
    for number in range(8):
        again = save_population(tmp_path / f"{number}.safetensors", population, game, kept)
        assert again.read_bytes() == path.read_bytes()


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


def rewrite(entries=None, forged=True, **changes):
    """A file whose description differs in some entries, and has the right checksum if forged; weights are unharmed."""

    def change(data):
        (size,) = struct.unpack("<Q", data[:8])
        header = json.loads(data[8 : 8 + size])
        about = json.loads(header["__metadata__"]["brdiv"])
        about.update(changes)
        told = header["__metadata__"]["brdiv"] = json.dumps(about)
        if forged:
            header["__metadata__"]["brdiv_sha256"] = hashlib.sha256(told.encode()).hexdigest()
        for name, entry in (entries or {}).items():
            header[name].update(entry)
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
    "a changed seed": (rewrite(seed=5, forged=False), "description doesn't match its checksum"),
    "a changed payoff": (
        rewrite(forged=False, game={"name": "Reaching", "settings": {"payoffs": [1.0, 0.25]}}),
        "description doesn't match its checksum",
    ),
    "passed off as format 1": (rewrite(seed=5, format=1, forged=False), "description doesn't match its checksum"),
    "not JSON's number": (rewrite(seed=float("nan")), "can't be read"),
    "a seed that is none": (rewrite(seed=-1), "seed can't be -1"),
    "steps that are none": (rewrite(steps=True), "steps can't be True"),
    "an infinite population": (rewrite(n_types=10**12), "n_types can't be"),
    "layers without end": (rewrite(hidden=[8] * 1000), "hidden can't be a list"),
    "a method that is none": (rewrite(method=5), "method can't be 5"),
    "other numbers": (rewrite({"layers.0.weight": {"dtype": "I32"}}), "as I32, and not in float32"),
    "other shapes": (rewrite({"layers.0.weight": {"shape": [6, 1, 784]}}), "should be \\[6, 98, 8\\]"),
    "a longer file": (lambda data: data + b"12345678", "bytes, and has"),
    "a header of a gigabyte": (lambda data: struct.pack("<Q", 1 << 30) + data[8:], "no header"),
    "a grid larger than memory": (
        rewrite(game={"name": "Reaching", "settings": {"size": 1000}}),
        "size is 1000: it must be a whole number from 3 to",
    ),
    "a game of another size": (rewrite(game={"name": "Reaching", "settings": {}}), "observation_size is 98"),
    "an episode of half a step": (rewrite(game={"name": "Reaching", "settings": {"horizon": 2.5}}), "horizon is 2.5"),
    "escape sequences": (rewrite(game={"name": "\x1b[31mX\ud800\n", "settings": {}}), r"x1b\[31mX.ud800.n"),
    "not a known game": (rewrite(game={"name": "Chess", "settings": {}}), "plays Chess"),
    "settings of no game": (rewrite(game={"name": "Reaching", "settings": {"wind": 3}}), "wind"),
    "no game at all": (rewrite(game="Reaching"), "game can't be 'Reaching'"),
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
    assert len(str(caught.value)) < 400
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_refused(number, path, population):
    population.layers[0].weight.data[0, 0, 0] = number
    save_population(path, population, Reaching(size=7, goals=[(0, 0)], payoffs=[1.0]))
    with pytest.raises(PopulationFileError, match="not finite"):
        load_population(path)


def test_a_file_of_the_first_format_is_still_read(path, population):
    """It had no checksum of its description."""
    data = rewrite(format=1)(path.read_bytes())
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    del header["__metadata__"]["brdiv_sha256"]
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size :])
    loaded = load_population(path)
    assert loaded.about["seed"] == 4
    assert torch.equal(loaded.population.layers[0].weight, population.layers[0].weight)


def test_a_pipe_and_a_device_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(PopulationFileError, match="a device or a pipe"):
            load_population(path)


def test_what_could_not_be_read_again_is_not_written(tmp_path, population):
    with pytest.raises(PopulationFileError, match="seed can't be -1"):
        save_population(tmp_path / "own.safetensors", population, Reaching(), {"seed": -1})
    assert not list(tmp_path.iterdir())


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
    path.write_bytes(rewrite(game={"name": "Untaught", "settings": {}})(path.read_bytes()))
    assert read_about(path)["game"]["name"] == "Untaught"
    with pytest.raises(PopulationFileError, match="not known here"):
        load_population(path)
    path.write_bytes(b"nothing")
    with pytest.raises(PopulationFileError, match="damaged"):
        read_about(path)


def test_numbers_that_no_file_can_hold_are_refused_before_it_is_written(tmp_path):
    with pytest.raises(PopulationFileError, match="can't be described"):
        save_population(tmp_path / "p.safetensors", Population(2, 50, 5, [4]), Reaching(), {"x": float("inf")})
    assert not list(tmp_path.iterdir())


class OwnReaching(Reaching):
    """A game that someone brought."""

    def prize(self, positions: Tensor) -> Tensor:
        return 2 * super().prize(positions)


def test_a_game_of_ones_own_is_found_once_it_is_imported(tmp_path):
    path = save_population(tmp_path / "own.safetensors", Population(2, 50, 5, [4]), OwnReaching())
    assert isinstance(load_population(path).game, OwnReaching)
