"""A study's folder as `brdiv study` leaves it, for tests: tiny runs, and made-up measurements of them."""

import csv
import json
import random
from pathlib import Path

from brdiv.games import shipped_games
from brdiv.nets import Population
from brdiv.recurrent import RecurrentActorCritic
from brdiv.runs import read_about, save_learner, save_population
from tests.small_runs import train

HEURISTICS = {"reaching": 11, "lbf": 10, "cooking": 12}
METHODS = {
    "base": ("BRDiv", "BRDiv"),
    "independent": ("Independent", "Independent"),
    **{f"trajedi{part}": ("TrajeDi", f"TrajeDi{part}") for part in ("0", "025", "05", "075", "1")},
    "anyplay": ("AnyPlay", "AnyPlay"),
}
"""Class and label of the paper's methods by the stems of their configs."""


def write_csv(path, head, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head.split(","))
        writer.writerows(rows)


def overlay(method):
    return [] if method == "base" else ["--config", f"methods/{method}"]


def train_cell(study: Path, game: str, method: str, seed: int, *options: str) -> Path:
    """Really train a cell for a few updates."""
    run = study / "cells" / game / method / f"seed{seed}"
    train(run, *overlay(method), "--seed_everything", str(seed), *options, config=game)
    record(study, game, method, seed, "done")
    return run


def untrained_cell(study: Path, game: str, method: str, seed: int, n_types: int = 4, label: str = "", playing=None):
    """A cell whose population never learned a thing: enough for all that is made from files."""
    names = {"reaching": "Reaching", "lbf": "LBF", "cooking": "Cooking"}
    playing = playing or shipped_games()[names[game]]()
    population = Population(n_types, playing.observation_size, playing.n_actions, [8])
    kind, usual = METHODS.get(method, (method, method))
    about = {"method": {"name": kind, "label": label or usual, "settings": {}}, "seed": seed, "finished": True}
    path = study / "cells" / game / method / f"seed{seed}" / "population.safetensors"
    save_population(path, population, playing, about)
    record(study, game, method, seed, "done")
    return path


def whole_study(study: Path, level, others=0.1, game="reaching", seeds=5, n_types=4, **episodes):
    """A study of one game whose learners earn about ``level[method]`` with strangers."""
    runs = [(method, seed) for method in level for seed in range(seeds)]
    for method, seed in runs:
        untrained_cell(study, game, method, seed, n_types)
    made_up_matrices(study, game, runs, n_types, others=others)
    made_up_strategies(study, game, runs, n_types)
    made_up_episodes(study, game, runs, n_types, level, **episodes)
    write_rest(study, games=[game], methods=list(level), seeds=list(range(seeds)))
    return study


def untrained_learner(study: Path, game: str, method: str, seed: int, learner: str = "ppo"):
    """A learner that never learned a thing, beside a population."""
    about = read_about(study / "cells" / game / method / f"seed{seed}")
    playing = shipped_games()[about["game"]["name"]]()
    net = RecurrentActorCritic(playing.observation_size, playing.n_actions, [4], 4)
    told = {"method": {"name": "PPO", "label": "PPO", "settings": {}}, "seed": seed, "finished": True, "teammates": []}
    path = study / "learners" / game / method / learner / f"seed{seed}" / "learner.safetensors"
    save_learner(path, net, playing, {**told, "populations": [about["sha256"]]})
    record(study, game, method, seed, "done", learner=learner)


def add_learner(study, game, runs, n_types, level, learner="ppo"):
    """Episodes of one more learner with the strangers of the others."""
    path = study / "evaluation" / game / "episodes.csv"
    before = path.read_text()
    made_up_episodes(study, game, runs, n_types, level, learner=learner)
    path.write_text(before + path.read_text().partition("\n")[2])


def record(study: Path, game: str, method: str, seed: int, state: str, why: str = "", learner: str = ""):
    """Write down how a cell ended."""
    kind = ("learners", game, method, learner) if learner else ("cells", game, method)
    path = study.joinpath(*kind, f"seed{seed}.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    about = {"state": state, "why": why, "seconds": 12.5, "attempts": 1, "steps": 1536}
    path.write_text(json.dumps(about))


def made_up_matrices(study, game, runs, n_types, own=1.0, others=0.1, lengths=None):
    """Matrices whose diagonal is ``own`` and whose other entries are about ``others[method]``.

    Episodes take about ``lengths[method]`` steps.
    """
    rows = []
    for method, seed in runs:
        noise = random.Random(f"{method} {seed}")
        for i in range(1, n_types + 1):
            for j in range(1, n_types + 1):
                other = (others if isinstance(others, float) else others[method]) + 0.02 * noise.random()
                rows.append((method, seed, i, j, 64, own if i == j else other, (lengths or {}).get(method, 8.0) + i))
    write_csv(
        study / "evaluation" / game / "cross_play.csv",
        "method,seed,teammate,response,episodes,mean_return,mean_length",
        rows,
    )


def made_up_strategies(study, game, runs, n_types, alike=()):
    """A strategy for every team; methods in ``alike`` have one for all."""
    rows = [
        (method, seed, team, "the same" if method in alike else f"way {team}", 0.9)
        for method, seed in runs
        for team in range(1, n_types + 1)
    ]
    write_csv(study / "evaluation" / game / "strategies.csv", "method,seed,team,strategy,share", rows)


def made_up_episodes(study, game, runs, n_types, level, heuristics=True, generated=True, episodes=2, learner="PLASTIC"):
    """Episodes of every learner with strangers, who earn about ``level[method]``, or ``level[method, seed]``."""
    rows = []
    for method, seed in runs:
        noise = random.Random(f"{method} {seed}")
        strangers = []
        if heuristics:
            strangers += [("heuristics", "heuristics", "", f"H{n}") for n in range(1, HEURISTICS.get(game, 3) + 1)]
        if generated:
            strangers += [
                ("generated", m, s, k) for m, s in runs for k in range(1, n_types + 1) if (m, s) != (method, seed)
            ]
        for scenario, owner, owner_seed, teammate in strangers:
            for episode in range(episodes):
                paid = round(level.get((method, seed), level[method]) + 0.05 * (noise.random() - 0.5), 4)
                rows.append((method, seed, learner, scenario, owner, owner_seed, teammate, episode, paid, 9))
    write_csv(
        study / "evaluation" / game / "episodes.csv",
        "method,seed,learner,scenario,teammate_method,teammate_seed,teammate,episode,return,length",
        rows,
    )


def write_rest(study: Path, **given):
    """The study file and the versions."""
    study.mkdir(parents=True, exist_ok=True)
    (study / "study.yaml").write_text(json.dumps(given))
    versions = {"python": "3.12", "torch": "2.13.0", "machine": {"cores": 2}, "command": "brdiv study study.yaml"}
    (study / "versions.json").write_text(json.dumps(versions))
