import pytest

from tests.runs.killed_runs import whole_run


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory):
    return whole_run(tmp_path_factory.mktemp("damage") / "run", updates=4)
