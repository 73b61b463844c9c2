"""The learner file: what goes in comes out, and nothing else does."""

import json
import struct

import pytest
import torch

from brdiv.commands import main
from brdiv.errors import UserError
from brdiv.games import Reaching
from brdiv.recurrent import RecurrentActorCritic
from brdiv.runs import is_learner, load_learner, load_population, save_learner
from tests.doors.populations import small_file

ABOUT = {"method": {"name": "PPO", "label": "PPO", "settings": {}}, "teammates": ["H1"], "populations": [], "seed": 3}


@pytest.fixture
def file(tmp_path):
    game = Reaching()
    torch.manual_seed(0)
    net = RecurrentActorCritic(game.observation_size, game.n_actions, [8, 6], 4)
    return save_learner(tmp_path / "learner.safetensors", net, game, ABOUT), net


def rewritten(path, change):
    """The file with its header changed."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    change(header)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size :])
    return path


def test_what_goes_in_comes_out(file):
    path, net = file
    saved = load_learner(path)
    assert saved.about["seed"] == 3
    assert (saved.net.hidden, saved.net.memory) == ([8, 6], 4)
    for name, value in net.state_dict().items():
        assert torch.equal(value, saved.net.state_dict()[name])
    assert saved.game.same_as(Reaching())


def test_a_learner_is_no_population_and_a_population_no_learner(file, tmp_path):
    path, _ = file
    population = small_file(tmp_path)
    assert is_learner(path)
    assert not is_learner(population)
    with pytest.raises(UserError, match="it holds a learner, and not a population"):
        load_population(path)
    with pytest.raises(UserError, match="it holds a population, and not a learner"):
        load_learner(population)


def test_changed_weights_are_refused(file):
    path, _ = file
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(data)
    with pytest.raises(UserError, match="don't match their checksum"):
        load_learner(path)


def test_a_changed_description_is_refused(file):
    def change(header):
        header["__metadata__"]["brdiv_learner"] = header["__metadata__"]["brdiv_learner"].replace("H1", "H2")

    with pytest.raises(UserError, match="description doesn't match its checksum"):
        load_learner(rewritten(file[0], change))


def test_a_format_that_learners_never_had_is_refused(file):
    """Files of format 1 have no checksum of what they say: whoever changes that may not call it such a file."""

    def change(header):
        said = header["__metadata__"]
        said["brdiv_learner"] = said["brdiv_learner"].replace('"format": 2', '"format": 1').replace("H1", "H2")
        del said["brdiv_learner_sha256"]

    with pytest.raises(UserError, match="it has format 1; this version of brdiv reads 2"):
        load_learner(rewritten(file[0], change))


def test_a_tensor_of_another_shape_or_name_is_refused(file):
    def rename(header):
        header["policy.9.bias"] = header.pop("policy.2.bias")

    with pytest.raises(UserError, match="the layers that it stores are others"):
        load_learner(rewritten(file[0], rename))


def test_a_cut_file_and_no_file_are_refused(file, tmp_path):
    path, _ = file
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(UserError, match="it should have"):
        load_learner(path)
    with pytest.raises(FileNotFoundError, match="no learner file"):
        load_learner(tmp_path / "nowhere")


@pytest.mark.parametrize("wrong", [{"teammates": "H1"}, {"populations": [1]}, {"seed": -1}, {"prepared_with": [None]}])
def test_what_can_not_be_described_is_not_written(wrong, tmp_path):
    net = RecurrentActorCritic(4, 5, [8], 4)
    with pytest.raises(UserError, match="the learner can't be described"):
        save_learner(tmp_path / "learner.safetensors", net, Reaching(), {**ABOUT, **wrong})
    assert not list(tmp_path.iterdir())


def test_a_learner_plays_in_the_best_responses_seat_whichever_is_named_first(file, capsys):
    main(["play", "H3", str(file[0]), "--episodes", "4"])
    named_second = capsys.readouterr().out
    assert "H3 with PPO, 4 episodes" in named_second
    main(["play", str(file[0]), "H3", "--episodes", "4"])
    assert capsys.readouterr().out == named_second
    with pytest.raises(SystemExit):
        main(["play", str(file[0]), str(file[0]), "--episodes", "4"])
    assert "two of them can't play" in capsys.readouterr().err
