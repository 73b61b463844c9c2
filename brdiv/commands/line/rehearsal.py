"""Trying out what a checkpoint says before a run resumes from it, so that what can't be loaded is refused."""

import copy
import math
from pathlib import Path
from typing import Any

import torch
from lightning import Trainer

from brdiv.errors import LARGEST_NUMBER
from brdiv.games import Game
from brdiv.rollouts.environment import Moment
from brdiv.runs import CheckpointFileError
from brdiv.runs.description import is_whole
from brdiv.runs.resume import check_fits, check_made_with, check_stream
from brdiv.training import CountedModule, StreamData

MOST_DRAWN = 32  # starts that an environment draws ahead
ADAM = {"step", "exp_avg", "exp_avg_sq"}  # what it keeps of every parameter


def check_resumed(
    checkpoint: dict[str, Any], path: Path, trainer: Trainer, module: CountedModule, data: StreamData
) -> None:
    """Refuse a checkpoint that does not fit what is to be trained, or of which some part can't be loaded."""
    shape = (data.pairing.rows, data.window, trainer.world_size, data.play_format)
    check_stream(checkpoint, path, *shape, module.steps_per_window)
    check_made_with(checkpoint, module.made_with(data), path)
    check_fits(checkpoint, module, path)
    rehearse(checkpoint, path, trainer, module, data)


def rehearse(checkpoint: dict[str, Any], path: Path, trainer: Trainer, module: CountedModule, data: StreamData) -> None:
    """Refuse a checkpoint of which some part can't be loaded or played on from. Nothing of the run is changed."""
    parts = {
        "the Trainer's counts": lambda: check_loops(checkpoint, trainer),
        "the optimiser's state": lambda: check_optimiser(checkpoint, module),
        "where play stood": lambda: check_play(checkpoint, module, data),
        "what callbacks remember": lambda: check_callbacks(checkpoint, trainer),
    }
    for what, check in parts.items():
        try:
            with torch.random.fork_rng(devices=[]):
                check()
        except Exception as error:  # whatever loading values of any kind may end in
            raise CheckpointFileError(f"{path} is damaged: {what} can't be restored") from error


def agree(condition: bool) -> None:
    """Refuse what is not so."""
    if not condition:
        raise ValueError("a checkpoint's parts don't agree")


def check_loops(checkpoint: dict[str, Any], trainer: Trainer) -> None:
    """Lightning's progress: the counts that it keeps itself, and no others; batches as many as updates."""
    own, theirs = trainer.fit_loop.state_dict(), checkpoint["loops"]["fit_loop"]
    agree(own.keys() == theirs.keys())
    for name, counts in own.items():
        if not name.endswith("state_dict"):
            check_counts(counts, theirs[name])
    updates = theirs["state_dict"]["combined_loader"][0]["ranks"][0]["given"]
    for done in (theirs["epoch_loop.batch_progress"][kind] for kind in ("total", "current")):
        # A checkpoint is written before Lightning counts the batch as completed, or after the last one.
        agree(done["ready"] == updates and updates - 1 <= done["completed"] <= updates)
    agree(is_whole(theirs["epoch_loop.state_dict"].get("_batches_that_stepped", 0), 0, updates))
    agree(theirs["epoch_progress"]["current"]["completed"] in {0, 1})


def check_counts(own: Any, theirs: Any) -> None:
    """Counts nested as ours are, none of them negative."""
    if isinstance(own, dict):
        agree(isinstance(theirs, dict) and own.keys() == theirs.keys())
        for name, inner in own.items():
            check_counts(inner, theirs[name])
    else:
        agree(isinstance(theirs, bool) if isinstance(own, bool) else is_whole(theirs))


def check_optimiser(checkpoint: dict[str, Any], module: CountedModule) -> None:
    """The same parameters in the same groups, with settings of the same kinds, and a state of each one's shape."""
    optimiser: Any = module.configure_optimizers()
    own, (theirs,) = optimiser.state_dict()["param_groups"], checkpoint["optimizer_states"]
    agree(theirs.keys() == {"state", "param_groups"})
    for ours, saved in zip(own, theirs["param_groups"], strict=True):
        agree(ours["params"] == saved["params"] and is_like(ours, {name: saved[name] for name in ours}))
    parameters = dict(enumerate(parameter for group in optimiser.param_groups for parameter in group["params"]))
    for number, state in theirs["state"].items():
        agree(state.keys() >= ADAM or type(optimiser) is not torch.optim.Adam)
        agree(all(is_estimate(name, value, parameters[number].shape) for name, value in state.items()))


def is_estimate(name: str, value: Any, shape: torch.Size) -> bool:
    """Whether a value is what an optimiser may keep of a parameter of some shape."""
    if not isinstance(value, torch.Tensor):
        return name not in ADAM and (value is None or is_whole(value))
    least = 0.0 if name in {"step", "exp_avg_sq"} else -LARGEST_NUMBER
    return (
        value.dtype == torch.float32
        and (value.shape == shape if name in ADAM - {"step"} else value.shape in {shape, torch.Size([])})
        and bool(((value >= least) & (value <= LARGEST_NUMBER)).all())
    )


def check_play(checkpoint: dict[str, Any], module: CountedModule, data: StreamData) -> None:
    """Every process's play, which must go on for a window."""
    for rank in checkpoint["loops"]["fit_loop"]["state_dict"]["combined_loader"][0]["ranks"]:
        agree(isinstance(rank.get("device", "cpu"), str))
        if "play" not in rank:  # an external environment starts new episodes
            torch.Generator().set_state(rank["actions"])
            continue
        agree(is_whole(rank["play"]["draws"]["used"], 0, MOST_DRAWN))
        collector = data.collect(module, torch.device("cpu"), [0])
        fresh = collector.env.begin()
        if rank.get("device", "cpu") != "cpu":  # generators of other devices have other states
            own = {"actions": collector.generator.get_state(), "device": "cpu"}
            rank = {**rank, **own, "play": {**rank["play"], "draws": collector.env.draws()}}
        collector.load_state_dict(copy.deepcopy(rank), windows=rank["given"])
        if collector.now is not None:
            check_moment(fresh, collector.now, data)
            collector.rollout()


def check_moment(fresh: Moment, now: Moment, data: StreamData) -> None:
    """Rows of the shapes of ``fresh`` ones, who are where the game allows and see what is to be seen there."""
    assert fresh.state is not None
    assert now.state is not None
    own, theirs = {**dict(fresh.state.items()), **fresh._asdict()}, {**dict(now.state.items()), **now._asdict()}
    agree(own.keys() == theirs.keys())
    for name in own.keys() - {"state"}:
        agree(is_like(own[name], theirs[name]) and own[name].shape == theirs[name].shape)
    agree(bool(((now.clock >= 0) & (now.clock < data.game.horizon)).all()))
    agree(bool(((now.ids >= 0) & (now.ids < data.pairing.n_types)).all()))
    game = data.game
    assert isinstance(game, Game)
    agree(torch.equal(game.observe(now.state), now.observation))


def check_callbacks(checkpoint: dict[str, Any], trainer: Trainer) -> None:
    """For every callback a state like the one it has now."""
    for callback in trainer.callbacks:  # type: ignore[attr-defined]
        if callback.state_key in checkpoint["callbacks"]:
            agree(is_like(callback.state_dict(), checkpoint["callbacks"][callback.state_key]))


def is_like(own: Any, theirs: Any) -> bool:
    """Whether a value is of the kind of another, all the way down; whatever stands for None will do."""
    if own is None:
        return True
    if isinstance(own, torch.Tensor):
        alike = isinstance(theirs, torch.Tensor) and theirs.dtype == own.dtype and theirs.dim() == own.dim()
        return alike and not bool(theirs.isnan().any())
    if isinstance(own, dict):
        alike = isinstance(theirs, dict) and (not own or own.keys() == theirs.keys())
        return alike and all(is_like(own[key], theirs[key]) for key in own)
    if isinstance(own, list | tuple):
        alike = isinstance(theirs, list | tuple) and bool(own) <= bool(theirs)
        return alike and all(is_like(own[0], inner) for inner in theirs if own)
    if isinstance(own, float):
        return isinstance(theirs, float | int) and not isinstance(theirs, bool) and not math.isnan(theirs)
    return type(own) is type(theirs) or (type(own) is int and type(theirs) is float)
