"""LBF against the `lbforaging` package: same state, same actions, same everything after, state copied both ways."""

import random

import gymnasium
import numpy as np
import pytest
import torch

from brdiv.games import LBF

pytest.importorskip("lbforaging", reason="the reference package lbforaging is not installed")

NORTH, SOUTH, WEST, EAST, LOAD = range(1, 6)


def reference():
    env = gymnasium.make("lbforaging:Foraging-6x6-2p-3f-coop-v3", disable_env_checker=True).unwrapped
    env._max_episode_steps = 10**9  # our step never ends an episode for time; theirs must not either
    return env


def put(env, view):
    """Set the package's environment to the state in seat 0's view."""
    *foods, first, second = view.view(5, 3).tolist()
    env.field[:] = 0
    for row, column, level in foods:
        if level:
            env.field[row, column] = level
    for player, (row, column, level) in zip(env.players, (first, second), strict=True):
        player.position, player.level = (row, column), level
    env._food_spawned = env.field.sum()
    env._gen_valid_moves()


def purposeful(view, rng):
    """Mostly towards the first food and load beside it, sometimes anything."""
    if rng.random() < 0.25:
        return rng.randrange(6)
    row, column = view[9], view[10]
    dr, dc = view[0] - row, view[1] - column
    if abs(dr) + abs(dc) == 1:
        return LOAD
    if dr and (not dc or rng.random() < 0.5):
        return NORTH if dr < 0 else SOUTH
    return WEST if dc < 0 else EAST


def play_side_by_side(env, game, state, choose, steps, foods):
    """Step both from the same state and compare; returns the number of steps and of foods collected."""
    played = collected = 0
    for played in range(1, steps + 1):  # noqa: B007
        views = game.view(state)[0]
        actions = [choose(view.tolist()) for view in views]
        theirs, rewards, done, _, _ = env.step(tuple(actions))
        state, reward, terminated = game.step(state, torch.tensor([actions]))
        assert torch.equal(game.view(state)[0], torch.from_numpy(np.stack(theirs)).long())
        assert reward.item() * game.foods == pytest.approx(sum(rewards) * foods)
        assert terminated.item() == done
        collected += round(sum(rewards) * foods)
        if done:
            break
    return played, collected


@pytest.mark.parametrize("play", ["random", "purposeful"])
def test_from_our_starts_the_package_agrees_in_every_step(play, generator):
    env, game, rng = reference(), LBF(), random.Random(1)
    env.reset(seed=0)
    choose = (lambda view: rng.randrange(6)) if play == "random" else (lambda view: purposeful(view, rng))
    starts = game.initial(120, generator)
    steps = collected = 0
    for row in range(120):
        state = starts[row : row + 1]
        put(env, game.view(state)[0, 0])
        done, found = play_side_by_side(env, game, state, choose, 50, foods=3)
        steps, collected = steps + done, collected + found
    assert steps > 2_000
    assert play == "random" or collected > 200


@pytest.mark.parametrize("play", ["random", "purposeful"])
def test_from_the_packages_starts_we_agree_in_every_step(play):
    env, game, rng = reference(), LBF(), random.Random(2)
    choose = (lambda view: rng.randrange(6)) if play == "random" else (lambda view: purposeful(view, rng))
    steps = collected = 0
    for seed in range(120):
        views, _ = env.reset(seed=seed)
        state = game.from_view(torch.from_numpy(np.stack(views)).long()[None])
        food_levels, levels = state["levels"].split([3, 2], 1)
        foods = int((food_levels > 0).sum())
        assert torch.equal(food_levels.max(), levels.sum())
        done, found = play_side_by_side(env, game, state, choose, 50, foods)
        steps, collected = steps + done, collected + found
    assert steps > 2_000
    assert play == "random" or collected > 200
