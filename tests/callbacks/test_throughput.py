from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests.small_runs import train


def test_speed_and_losses_are_logged_against_environment_steps(tmp_path):
    events = EventAccumulator(str(train(tmp_path / "run", "--trainer.log_every_n_steps", "4")))
    events.Reload()
    speed = events.Scalars("throughput/env_steps_per_second")
    assert [event.step for event in speed] == [512, 1024, 1536]
    assert all(event.value > 0 for event in speed)
    for name in ("actor", "critic", "entropy"):
        assert [event.step for event in events.Scalars(f"loss/{name}")] == [128, 640, 1152]
