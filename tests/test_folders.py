import pytest

from brdiv.folders import claim_folder, how_to_go_on, is_first_process, newest_folder


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


def test_a_run_goes_on_with_the_settings_it_was_last_continued_with(tmp_path):
    for name in ("config.yaml", "config_from_1000.yaml", "config_from_30000.yaml"):
        (tmp_path / name).touch()
    config = {500: "config.yaml", 1000: "config_from_1000.yaml", 29999: "config_from_1000.yaml"}
    config |= {30000: "config_from_30000.yaml", 200000: "config_from_30000.yaml"}
    for step, name in config.items():
        hint = how_to_go_on(tmp_path / "checkpoints" / f"step_{step:012}.ckpt")
        assert hint == f"go on with  brdiv fit --config {tmp_path}/{name} --run {tmp_path} --ckpt_path last"


def test_what_is_not_the_newest_is_named(tmp_path):
    best = tmp_path / "checkpoints" / "best.ckpt"
    assert how_to_go_on(best).endswith(f"--ckpt_path {best}")
