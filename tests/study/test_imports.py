"""A folder that a study looks through imports nothing that its user did not allow."""

import sys

import pytest

from brdiv.commands import main
from brdiv.games import Reaching
from brdiv.nets import Population
from brdiv.runs import RunFolder, save_population
from tests.fuzzing.populations import say_otherwise
from tests.study.small_study import state_of, write_study

PLANTED = """
from pathlib import Path
from brdiv.games import Reaching

Path("imported").touch()

class Planted(Reaching):
    pass
"""


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """A study whose one cell seems to be done, by a population that names a module."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "planted_for_a_study", raising=False)
    (tmp_path / "planted_for_a_study.py").write_text(PLANTED)
    run = RunFolder(tmp_path / "out/cells/reaching/independent/seed1")
    path = save_population(run.population, Population(2, 50, 5, [4]), Reaching(), {"finished": True, "steps": 384})
    say_otherwise(path, game={"name": "Planted", "module": "planted_for_a_study", "settings": {}})
    run.checkpoint(384).parent.mkdir()
    run.checkpoint(384).touch()
    return write_study(tmp_path / "two.yaml", methods=["independent", "base"])


def test_a_population_that_lay_in_the_folder_before_imports_nothing(planted, tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["study", str(planted), "--folder", "out", "--jobs", "1"])
    assert stop.value.code == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "if you trust the file, let that be imported (--allow-imports" in line
    assert not (tmp_path / "imported").exists()
    assert not (tmp_path / "out/cells/reaching/base").exists(), "it is said before the other cell is trained"


def test_it_imports_what_the_user_allows(planted, tmp_path):
    planted = write_study(tmp_path / "one.yaml")
    main(["study", str(planted), "--folder", "out", "--jobs", "1", "--allow-imports"])
    assert (tmp_path / "imported").exists()
    assert state_of(tmp_path / "out")["attempts"] == 0
    assert (tmp_path / "out/evaluation/reaching/episodes.csv").read_text().count("independent,1,plastic") == 2 * 11
