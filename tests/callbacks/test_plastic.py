import pytest
from brdiv.callbacks import PlasticEvaluation
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests.small_runs import train


def test_returns_with_heuristics_and_pictures_are_logged(tmp_path):
    options = ["--plastic.every", str(128 * 2), "--plastic.episodes", "2"]
    run = train(tmp_path / "run", *options, steps=128 * 4)
    events = EventAccumulator(str(run)).Reload()
    assert [e.step for e in events.Scalars("plastic/mean_return")] == [256, 512]
    assert {f"plastic/H{number}" for number in range(1, 12)} <= set(events.Tags()["scalars"])
    assert {"plastic", "belief"} <= set(events.Tags()["images"])


@pytest.mark.parametrize("wrong", [{"every": -1}, {"episodes": 0}])
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        PlasticEvaluation(**wrong)
