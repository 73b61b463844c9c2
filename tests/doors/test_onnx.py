import json
import subprocess
import sys

import numpy as np
import pytest
import torch

from brdiv.commands import main
from brdiv.games import shipped_games
from brdiv.runs import load_population
from tests.doors.populations import small_file

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
pytest.importorskip("onnxscript", reason="onnxscript is not installed")

GAMES = list(shipped_games())


@pytest.fixture(scope="module", params=GAMES)
def exported(request, tmp_path_factory):
    """A population file and the folder of its graphs."""
    folder = tmp_path_factory.mktemp(request.param)
    file = small_file(folder, request.param)
    main(["export", file, "--to", "onnx"])
    return load_population(file), folder / "onnx"


def session(folder, name):
    return onnxruntime.InferenceSession(folder / f"{name}.onnx")


def told(folder, name):
    (entry,) = onnx.load(folder / f"{name}.onnx").metadata_props
    assert entry.key == "brdiv"
    return json.loads(entry.value)


def views(game, rows=200, steps=15):
    """What both seats see in random play, ``[N, 2, V]``."""
    generator = torch.Generator().manual_seed(1)
    state, found = game.initial(rows, generator), []
    for _ in range(steps):
        found.append(game.view(state))
        state, _, _ = game.step(state, torch.randint(game.n_actions, (rows, 2), generator=generator))
    return torch.cat(found)


def test_there_is_a_file_per_policy_and_one_for_the_encoder(exported):
    _, folder = exported
    names = {f"{role}_{k}" for role in ("teammate", "best_response") for k in (1, 2, 3)} | {"encoder"}
    assert {path.stem for path in folder.glob("*.onnx")} == names
    for name in names:
        onnx.checker.check_model(onnx.load(folder / f"{name}.onnx"), full_check=True)


def test_from_the_plain_view_to_the_logits_graphs_do_as_the_networks(exported):
    (population, game, _), folder = exported
    view = views(game)
    encoder = session(folder, "encoder")
    for seat, role in enumerate(("teammate", "best_response")):
        (seen,) = encoder.run(["input"], {"view": view[:, seat].numpy()})
        assert np.abs(seen - game.encode(view[:, seat]).numpy()).max() <= 1e-5
        for number in range(3):
            (logits,) = session(folder, f"{role}_{number + 1}").run(["logits"], {"input": seen})
            ids = torch.full((len(view), 2), number)
            ours = population(game.encode(view), ids)[:, seat].detach().numpy()
            assert np.abs(logits - ours).max() <= 1e-5
            assert np.abs(ours).max() > 0.1, "there is something to compare"


@pytest.mark.parametrize("rows", [1, 7])
def test_any_number_of_rows_goes_through(exported, rows):
    (_, game, _), folder = exported
    (seen,) = session(folder, "encoder").run(None, {"view": views(game, rows, 1)[:, 0].numpy()})
    assert seen.shape == (rows, game.observation_size)
    assert session(folder, "teammate_1").run(None, {"input": seen})[0].shape == (rows, game.n_actions)


def test_the_metadata_says_what_every_number_means(exported):
    (_, game, about), folder = exported
    policy, encoder = told(folder, "best_response_2"), told(folder, "encoder")
    assert (policy["role"], policy["number"], encoder["role"]) == ("best_response", 2, "encoder")
    assert policy["sha256"] == about["sha256"]
    assert policy["game"] == {"name": type(game).__name__, "settings": json.loads(json.dumps(game.settings()))}
    assert policy["inputs"] == encoder["outputs"] == game.observation_names()
    assert policy["outputs"] == game.action_names()
    assert encoder["inputs"] == game.view_names()


def test_a_graph_runs_where_there_is_neither_torch_nor_brdiv(exported):
    (_, game, _), folder = exported
    code = f"""
import numpy, onnxruntime, sys
view = numpy.array([{views(game, 1, 1)[0, 0].tolist()}])
seen = onnxruntime.InferenceSession("encoder.onnx").run(None, {{"view": view}})[0]
print(onnxruntime.InferenceSession("teammate_3.onnx").run(None, {{"input": seen}})[0].shape)
assert not {{"torch", "brdiv"}} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert done.stdout == f"(1, {game.n_actions})\n", done.stderr


def test_a_missing_package_is_answered_with_how_to_get_it(tmp_path, monkeypatch, capsys):
    file = small_file(tmp_path)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(SystemExit):
        main(["export", file])
    assert 'ONNX needs onnx: pip install "brdiv[onnx]"' in capsys.readouterr().err
    assert not (tmp_path / "onnx").exists()


def test_another_format_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["export", small_file(tmp_path), "--to", "torchscript"])
    assert "onnx" in capsys.readouterr().err
