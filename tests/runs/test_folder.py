import pytest

from brdiv.runs import RunFolder, is_first_process


def test_runs_of_one_name_are_numbered_and_the_last_is_found(tmp_path):
    default = tmp_path / "runs" / "game"
    assert RunFolder.newest(default) is None
    claimed = [RunFolder.claim(None, default) for _ in range(3)]
    assert [folder.path.name for folder in claimed] == ["game", "game-2", "game-3"]
    assert RunFolder.newest(default).path == claimed[-1].path


def test_a_folder_that_holds_something_is_not_given_away(tmp_path):
    (tmp_path / "mine").write_text("keep")
    with pytest.raises(ValueError, match="not empty"):
        RunFolder.claim(tmp_path, tmp_path)
    assert RunFolder.claim(tmp_path / "new", tmp_path).path == tmp_path / "new"


@pytest.mark.parametrize("name", ["RANK", "LOCAL_RANK", "NODE_RANK", "GROUP_RANK", "SLURM_PROCID"])
def test_only_the_first_process_writes(name, monkeypatch):
    assert is_first_process()
    monkeypatch.setenv(name, "1")
    assert not is_first_process()


def test_a_run_resumes_with_the_settings_it_was_last_resumed_with(tmp_path):
    for name in ("config.yaml", "config_from_1000.yaml", "config_from_30000.yaml"):
        (tmp_path / name).touch()
    config = {500: "config.yaml", 1000: "config_from_1000.yaml", 29999: "config_from_1000.yaml"}
    config |= {30000: "config_from_30000.yaml", 200000: "config_from_30000.yaml"}
    for step, name in config.items():
        hint = RunFolder(tmp_path).how_to_resume(RunFolder(tmp_path).checkpoint(step))
        assert hint == f"resume with  brdiv fit --config {tmp_path}/{name} --run {tmp_path} --ckpt_path last"


def test_bounds_resume_by_the_command_that_began_them(tmp_path):
    hint = RunFolder(tmp_path).how_to_resume(RunFolder(tmp_path).checkpoint(500), "bounds")
    assert hint == "the same command, with the same --out, resumes from there"


def test_what_is_not_the_newest_is_named(tmp_path):
    best = RunFolder(tmp_path).best_checkpoint
    assert RunFolder(tmp_path).how_to_resume(best).endswith(f"--ckpt_path {best}")
