import pytest

from brdiv.objectives import BRDiv
from brdiv.runs import load_population
from brdiv.training import TeammateGenerator
from tests.small_runs import train


def test_the_file_says_how_it_was_made(tmp_path):
    run = train(tmp_path / "run", "--seed_everything", "7", "--model.objective.cross_play_weight", "1.5")
    about = load_population(run / "population.safetensors").about
    method = about["method"]
    assert (method["name"], method["label"]) == ("BRDiv", "BRDiv")
    assert BRDiv(**method["settings"]).cross_play_weight == 1.5
    assert (about["seed"], about["steps"], about["finished"]) == (7, 128 * 12, True)


def test_a_run_that_was_cut_does_not_call_itself_finished(tmp_path):
    run = train(tmp_path / "run", "--trainer.max_steps", "3")
    about = load_population(run / "population.safetensors").about
    assert (about["steps"], about["finished"]) == (128 * 3, False)


def test_what_can_not_be_written_down_stops_the_run_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("brdiv.objectives.BRDiv.settings", lambda self: {"weight": object()})
    with pytest.raises(TypeError, match="not JSON serializable"):
        train(tmp_path / "run")
    assert not (tmp_path / "run" / "cross_play.csv").exists()


def test_a_run_that_fails_leaves_what_it_has(tmp_path, monkeypatch):
    original = TeammateGenerator.training_step

    def fail_late(self, rollout, batch_idx):
        if batch_idx == 5:
            raise RuntimeError("power cut")
        return original(self, rollout, batch_idx)

    monkeypatch.setattr(TeammateGenerator, "training_step", fail_late)
    with pytest.raises(RuntimeError, match="power cut"):
        train(tmp_path / "run")
    about = load_population(tmp_path / "run" / "population.safetensors").about
    assert (about["steps"], about["finished"]) == (128 * 5, False)
