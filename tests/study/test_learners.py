"""Learners in a study: trained with every population of it, evaluated beside PLASTIC."""

import json
import shutil
import sys

import pytest
import torch
import yaml
from safetensors.torch import load_file

from brdiv.commands import main
from brdiv.commands.line.resolving import resolve
from brdiv.errors import UserError
from brdiv.study.cells import DONE, WAITING, Cell, State
from brdiv.study.local import train_cells
from brdiv.study.plan import read_study
from brdiv.study.run import train_all
from brdiv.study.settings import Resolved, resolve_all
from tests.study.small_study import write_study
from tests.study.test_study import refused, rows

SMALL = {
    "model": {"hidden": [8], "memory": 8},
    "data": {"steps": 240, "rows": 8, "window": 6},
    "evaluation": {"final_episodes": 2},
}
TWO = {"seeds": "1-2", "learners": ["plastic", "ppo"], "learner_overrides": SMALL}


def state_of(folder, cell):
    return json.loads((folder / f"{cell}.json").read_text())


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A study of two populations and a learner for each, run to its end."""
    folder = tmp_path_factory.mktemp("learners")
    file = write_study(folder / "two.yaml", **TWO)
    main(["study", str(file), "--folder", str(folder / "out"), "--jobs", "1"])
    return file, folder / "out"


def test_learners_are_cells_of_their_own_behind_the_populations_of_their_method(tmp_path):
    file = write_study(tmp_path / "two.yaml", methods=["base", "lipo"], **{**TWO, "learners": ["ppo", "liam"]})
    found = [cell.name for cell in read_study(str(file)).cells(tmp_path / "out")]
    assert found == [
        f"reaching/{method}/{part}seed{seed}"
        for method in ("base", "lipo")
        for part in ("", "ppo/", "liam/")
        for seed in (1, 2)
    ]


def test_a_learner_is_trained_with_all_teammates_of_the_population_of_its_seed(finished):
    folder = finished[1]
    for seed in (1, 2):
        state = state_of(folder, f"learners/reaching/independent/ppo/seed{seed}")
        assert (state["state"], state["steps"], state["attempts"]) == ("done", 240, 1)
        config = yaml.safe_load((folder / f"learners/reaching/independent/ppo/seed{seed}/config.yaml").read_text())
        assert config["teammates"] == [str(folder / f"cells/reaching/independent/seed{seed}/population.safetensors")]
        assert config["seed_everything"] == seed


def test_it_is_bit_for_bit_what_learn_trains(finished, tmp_path):
    folder = finished[1]
    options = ["--model.hidden", "[8]", "--model.memory", "8", "--data.steps", "240", "--data.rows", "8"]
    options += ["--data.window", "6", "--threads", "1", "--seed_everything", "2", "--evaluation.final_episodes", "2"]
    options += ["--teammates", str(folder / "cells/reaching/independent/seed2")]
    main(["learn", "--config", "learners/ppo", *options, "--run", str(tmp_path / "run")])
    ours = load_file(folder / "learners/reaching/independent/ppo/seed2/learner.safetensors")
    theirs = load_file(tmp_path / "run/learner.safetensors")
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_it_meets_the_strangers_that_plastic_meets(finished):
    met = {}
    for row in rows(finished[1] / "evaluation/reaching/episodes.csv"):
        stranger = tuple(row[name] for name in ("method", "seed", "scenario", "teammate_seed", "teammate", "episode"))
        met.setdefault(row["learner"], []).append(stranger)
    assert met.keys() == {"plastic", "ppo"}
    assert met["ppo"] == met["plastic"]
    assert len(set(met["ppo"])) == len(met["ppo"]) == 2 * (11 + 4) * 2


def test_run_again_it_trains_and_measures_nothing_and_the_study_says_what_there_is(finished):
    file, folder = finished
    before = {path: path.stat().st_mtime_ns for path in (folder / "learners").rglob("*") if path.is_file()}
    tables = {path.name: path.read_bytes() for path in (folder / "evaluation/reaching").iterdir()}
    main(["study", str(file), "--folder", str(folder), "--jobs", "1"])
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert {path.name: path.read_bytes() for path in (folder / "evaluation/reaching").iterdir()} == tables
    resolved = yaml.safe_load((folder / "study.yaml").read_text())["resolved"]
    assert resolved["cells"] == 4
    (learner,) = resolved["groups"][0]["learners"]
    assert (learner["learner"], learner["label"], learner["steps"]) == ("ppo", "PPO", 240)


def test_a_learner_alone_is_trained_behind_its_population(tmp_path):
    file = write_study(tmp_path / "two.yaml", **TWO)
    main(["study", str(file), "--folder", str(tmp_path / "out"), "--jobs", "1", "--cell", "4"])
    done = sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("seed*.json"))
    assert done == ["cells/reaching/independent/seed2.json", "learners/reaching/independent/ppo/seed2.json"]


class Instant:
    """A pool in which all that is started is over at the next look: done, or failed."""

    def __init__(self, failing=()):
        self.failing, self.order, self.over = failing, [], []
        self.free = True

    @property
    def running(self):
        return [cell for cell, _ in self.over]

    def start(self, cell):
        self.order.append(cell)
        state = "failed" if cell in self.failing else DONE
        self.over.append((cell, cell.write(State(state))))
        return True

    def ended(self):
        over, self.over = self.over, []
        return over

    def stop(self):
        pass


@pytest.fixture
def pair(tmp_path):
    (tmp_path / "ppo").mkdir()
    population = Cell(tmp_path, 0, "reaching", "base")
    return population, population._replace(folder=tmp_path / "ppo", learner="ppo", needs=population)


def test_a_learner_waits_for_its_population_wherever_it_stands_in_the_list(pair):
    population, learner = pair
    pool = Instant()
    assert [cell for cell, _ in train_cells([learner, population], pool)] == [population, learner]


def test_a_learner_whose_population_failed_is_not_trained_and_says_why(pair):
    population, learner = pair
    pool = Instant(failing=[population])
    (_, failed), (cell, state) = train_cells([population, learner], pool)
    assert pool.order == [population]
    assert failed.state == "failed"
    assert (cell, state.state) == (learner, WAITING)
    assert state.why == "reaching/base/seed0, which it needs, is not done"


class Late(Instant):
    """Trains on another machine: what is written there appears here later."""

    def start(self, cell):
        self.order.append(cell)
        self.over.append((cell, State(DONE)))
        return True


def test_how_a_population_ended_counts_and_not_only_what_its_file_says_by_then(pair):
    population, learner = pair
    assert [(cell, state.state) for cell, state in train_cells(pair, Late())] == [(population, DONE), (learner, DONE)]


def test_the_study_ends_with_how_its_cells_ended_and_not_only_with_what_files_say_by_then(pair):
    resolved = {cell.group: Resolved({}, "BRDiv", 100, 0) for cell in pair}
    assert train_all(pair, resolved, Late(), 1, False) == [(cell, State(DONE)) for cell in pair]


def test_a_state_that_is_known_is_not_read_again(pair, monkeypatch):
    population, learner = pair
    read = []
    monkeypatch.setattr(Cell, "state", lambda cell: read.append(cell) or State())
    assert [cell for cell, _ in train_cells(pair, Late())] == [population, learner]
    assert len(read) == 1, "once, before the population had ended"


def test_weights_are_those_of_the_teammates_of_a_population(tmp_path):
    data = {**SMALL["data"], "weights": [1, 2, 3, 4]}
    file = write_study(tmp_path / "one.yaml", learners=["ppo"], learner_overrides={**SMALL, "data": data})
    study = read_study(str(file))
    resolved = resolve_all(study, study.groups, tmp_path / "out", resolve)
    assert resolved["reaching/independent/ppo"].settings["data"]["weights"] == [1, 2, 3, 4]


@pytest.mark.parametrize("name", ["ppo", "plastic"])
def test_learners_of_one_name_are_refused(name, tmp_path):
    mine = tmp_path / f"{name}.yaml"
    mine.write_text("model: { method: LIAM }\n")
    file = write_study(tmp_path / "one.yaml", learners=[name, str(mine)])
    with pytest.raises(UserError, match=f"two learners are called {name}"):
        read_study(str(file))


BROKEN = """
from brdiv.learners import PPO

class Broken(PPO):
    def auxiliary(self, output, rollout):
        raise RuntimeError("the sky fell")
"""


def test_a_learner_that_fails_costs_nobody_else_anything(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "broken_learner", raising=False)
    (tmp_path / "broken_learner.py").write_text(BROKEN)
    (tmp_path / "broken.yaml").write_text("model: { method: broken_learner.Broken }\n")
    file = write_study(tmp_path / "one.yaml", learners=["broken.yaml", "ppo"], learner_overrides=SMALL)
    with pytest.raises(SystemExit) as stop:
        main(["study", str(file), "--folder", "out", "--jobs", "1"])
    assert stop.value.code == 1
    assert "reaching/independent/broken/seed1: failed after" in capsys.readouterr().out
    assert (
        state_of(tmp_path / "out/learners/reaching/independent/broken", "seed1")["why"] == "RuntimeError: the sky fell"
    )
    learners = {row["learner"] for row in rows(tmp_path / "out/evaluation/reaching/episodes.csv")}
    assert learners == {"plastic", "ppo"}


def test_a_population_that_is_another_one_now_is_not_evaluated_with_its_old_learner(finished, tmp_path, capsys):
    copy = shutil.copytree(finished[1], tmp_path / "out")
    cells = copy / "cells/reaching/independent"
    shutil.copy(cells / "seed1/population.safetensors", cells / "seed2/population.safetensors")
    complaint = "reaching/independent/ppo/seed2 was trained with another reaching/independent/seed2"
    assert complaint in refused(capsys, "study", finished[0], "--folder", copy, "--evaluate", "--jobs", "1")
    more = write_study(tmp_path / "more.yaml", methods=["independent", "base"], **TWO)
    assert complaint in refused(capsys, "study", more, "--folder", copy, "--jobs", "1")
    assert not (copy / "cells/reaching/base").exists(), "it is said before anything is trained"


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"learners": ["magic"]}, "no config file magic"),
        ({"learners": [3]}, "learners is"),
        ({"learners": ["ppo"], "learner_overrides": [1]}, "learner_overrides is no mapping"),
        ({"learners": ["ppo"], "learner_overrides": False}, "learner_overrides is no mapping"),
        ({"learners": False}, "learners is False"),
        ({"learners": ["ppo"], "learner_overrides": {"teammates": ["H1"]}}, "teammates is set for each cell"),
        ({"also": [{"seeds": 9, "learners": ["ppo"]}]}, "reaching/independent is there twice, with other learners"),
        ({"learners": ["ppo"], "learner_overrides": {"data": {"rows": 0}}}, "independent/ppo: rows is 0"),
        ({"learners": ["ppo"], "learner_overrides": {"data": {"stepz": 3}}}, "independent/ppo: data.stepz: no such"),
        ({"learners": ["ppo"], "learner_overrides": {"data": 3}}, "independent/ppo: "),
        ({"learners": ["ppo"], "learner_overrides": {"data": {"game": "LBF"}}}, "data.game is that of the populations"),
        ({"learners": ["ppo"], "learner_overrides": {"data": {"teammates": []}}}, "data.teammates is that of the pop"),
        ({"learners": ["ppo"], "learner_overrides": {"data": {"weights": [1, 2, 3]}}}, "there are 4 teammates"),
        (
            {"learners": ["ppo"], "learner_overrides": {"evaluation": {"validation": ["no/such/run"]}}},
            "independent/ppo: .*no/such/run",
        ),
    ],
)
def test_mistakes_are_named_before_anything_is_trained(given, complaint, tmp_path):
    file = write_study(tmp_path / "bad.yaml", **given)

    def check():
        study = read_study(str(file))
        resolve_all(study, study.groups, tmp_path / "out", resolve)

    with pytest.raises(UserError, match=complaint):
        check()
    assert not (tmp_path / "out").exists()
