import pytest

from brdiv.folders import claim_folder, is_first_process, newest_folder


def test_runs_of_one_name_are_numbered_and_the_last_is_found(tmp_path):
    default = tmp_path / "runs" / "game"
    assert newest_folder(default) is None
    claimed = [claim_folder(None, default) for _ in range(3)]
    assert [folder.name for folder in claimed] == ["game", "game-2", "game-3"]
    assert newest_folder(default) == claimed[-1]


def test_a_folder_that_holds_something_is_not_given_away(tmp_path):
    (tmp_path / "mine").write_text("keep")
    with pytest.raises(ValueError, match="not empty"):
        claim_folder(tmp_path, tmp_path)
    assert claim_folder(tmp_path / "new", tmp_path) == tmp_path / "new"


@pytest.mark.parametrize("name", ["RANK", "LOCAL_RANK", "NODE_RANK", "GROUP_RANK", "SLURM_PROCID"])
def test_only_the_first_process_writes(name, monkeypatch):
    assert is_first_process()
    monkeypatch.setenv(name, "1")
    assert not is_first_process()
