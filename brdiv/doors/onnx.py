"""Policies and the encoder of their game as ONNX graphs, which know what their numbers mean."""

import importlib
import json
import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from brdiv.errors import UserError
from brdiv.games import Game, Playable
from brdiv.nets import Population
from brdiv.rollouts import NoIds, make_env
from brdiv.runs import SavedPopulation

KEY = "brdiv"
"""The one entry of a file's metadata; its value is JSON."""

OPSET = 18
TOLERANCE = 1e-5
ROLES = ("teammate", "best_response")


class Encoder(nn.Module):
    """A game's encoder as a module, to be traced."""

    def __init__(self, game: Game) -> None:
        super().__init__()
        self.game = game

    def forward(self, view: Tensor) -> Tensor:
        """Turn ``view [N, V]`` into ``[N, D]``."""
        return self.game.encode(view)


def export_onnx(saved: SavedPopulation, folder: Path) -> list[Path]:
    """Write every policy as `teammate_1.onnx`, `best_response_1.onnx` and so on, and the game's `encoder.onnx`.

    A policy maps ``input [N, D]`` to ``logits [N, A]``, the encoder ``view [N, V]``, a seat's plain numbers, to
    ``input [N, D]``. External environments show no views, so there is no encoder of theirs.
    """
    check_installed()
    import onnx

    population, game, about = saved
    folder.mkdir(parents=True, exist_ok=True)
    told: dict[str, Any] = {
        name: about[name] for name in ("method", "seed", "steps", "version", "sha256") if name in about
    }
    told["game"] = {"name": type(game).__name__, "settings": game.settings()}
    files = []
    for policy in range(2 * population.n_types):
        seat, number = divmod(policy, population.n_types)
        meaning = {"inputs": game.observation_names(), "outputs": game.action_names()}
        model = policy_graph(population, policy)
        describe(model, {**told, "role": ROLES[seat], "number": number + 1, **meaning})
        files.append(folder / f"{ROLES[seat]}_{number + 1}.onnx")
        onnx.save(model, files[-1])
    if isinstance(game, Game):
        model = encoder_graph(game)
        meaning = {"inputs": game.view_names(), "outputs": game.observation_names()}
        describe(model, {**told, "role": "encoder", **meaning})
        files.append(folder / "encoder.onnx")
        onnx.save(model, files[-1])
    return files


def check_installed() -> None:
    """Say in one line how to get what is needed."""
    for name in ("onnx", "onnxruntime", "onnxscript"):
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            raise UserError(f'ONNX needs {name}: pip install "brdiv[onnx]"') from None


def policy_graph(population: Population, policy: int) -> Any:
    """Write one policy's layers down: products, and ReLU between them."""
    from onnx import TensorProto, helper, numpy_helper

    nodes, weights, value = [], [], "input"
    for depth, layer in enumerate(population.layers):
        last = depth == len(population.layers) - 1
        for name in ("weight", "bias"):
            array = getattr(layer, name)[policy].detach().cpu().numpy()
            weights.append(numpy_helper.from_array(array.squeeze(0) if name == "bias" else array, f"{name}_{depth}"))
        product = "logits" if last else f"product_{depth}"
        nodes.append(helper.make_node("Gemm", [value, f"weight_{depth}", f"bias_{depth}"], [product]))
        if not last:
            value = f"hidden_{depth}"
            nodes.append(helper.make_node("Relu", [product], [value]))
    sizes = {"input": population.observation_size, "logits": population.n_actions}
    ends = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", size]) for name, size in sizes.items()}
    graph = helper.make_graph(nodes, "policy", [ends["input"]], [ends["logits"]], weights)
    return helper.make_model(
        graph, producer_name="brdiv", opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10
    )


def encoder_graph(game: Game) -> Any:
    """Trace a game's encoder."""
    views = game.view(game.initial(8, torch.Generator().manual_seed(0)))[:, 0]
    with quiet():
        program = torch.onnx.export(
            Encoder(game).eval(),
            (views,),
            input_names=["view"],
            output_names=["input"],
            dynamic_shapes=({0: torch.export.Dim("N")},),
            opset_version=OPSET,
            dynamo=True,
            external_data=False,
            verbose=False,
        )
    assert program is not None
    return program.model_proto


@contextmanager
def quiet() -> Iterator[None]:
    """Keep torch from speaking of packages that nothing here needs."""
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)


def describe(model: Any, about: Mapping[str, Any]) -> None:
    """Say in a file's metadata what it is, and what its inputs and outputs mean."""
    from onnx import helper

    helper.set_model_props(model, {KEY: json.dumps(about)})


def largest_difference(saved: SavedPopulation, folder: Path, rows: int = 64, steps: int = 20) -> float:
    """How far the written graphs are from the networks, at most, on what is seen in random play."""
    import onnxruntime

    views, observation = seen_in_play(saved.game, rows, steps)
    population, worst = saved.population, 0.0
    for policy in range(2 * population.n_types):
        seat, number = divmod(policy, population.n_types)
        session = onnxruntime.InferenceSession(folder / f"{ROLES[seat]}_{number + 1}.onnx")
        (logits,) = session.run(["logits"], {"input": observation[:, seat].numpy()})
        with torch.no_grad():
            ours = population.logits(observation[:, seat].contiguous(), torch.full((len(observation),), policy))
        worst = max(worst, float(np.abs(logits - ours.numpy()).max()))
    if views is not None:
        session = onnxruntime.InferenceSession(folder / "encoder.onnx")
        for seat in range(2):
            (encoded,) = session.run(["input"], {"view": views[:, seat].numpy()})
            worst = max(worst, float(np.abs(encoded - observation[:, seat].numpy()).max()))
    return worst


@torch.no_grad()
def seen_in_play(game: Playable, rows: int, steps: int) -> tuple[Tensor | None, Tensor]:
    """Views ``[N, 2, V]``, where there are any, and observations ``[N, 2, D]`` of random play."""
    generator = torch.Generator().manual_seed(0)
    env = make_env(game, NoIds(min(rows, game.most_rows)), "cpu", generator)
    now = env.begin()
    views, observations = [], []
    for _ in range(steps):
        views.append(env.view(now))
        observations.append(now.observation)
        action = torch.randint(game.n_actions, now.ids.shape, generator=generator)
        after, _, _, done = env.advance(now, action)
        now = env.renew(after, done)
    env.close()
    found = [view for view in views if view is not None]
    return torch.cat(found) if found else None, torch.cat(observations)
