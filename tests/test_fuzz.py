"""A seeded sample of `make fuzz`."""

from contextlib import closing

import pytest

from tests.fuzz import fuzz
from tests.fuzzing.worker import Worker

SECONDS = 60.0  # the machine may be busy with other tests: how fast files are refused, `make fuzz` sees


@pytest.fixture(scope="module")
def worker():
    with closing(Worker()) as worker:
        yield worker


@pytest.mark.parametrize(
    ("loader", "number"),
    [
        ("populations", 60),
        ("learners", 60),
        ("checkpoints", 6),
        ("learner_checkpoints", 6),
        ("configs", 6),
        ("learner_configs", 6),
        ("studies", 6),
        ("episodes", 60),
        ("bounds", 60),
    ],
)
def test_no_damaged_or_hostile_file_is_answered_by_more_than_a_line(loader, number, worker, capsys):
    counts = fuzz(loader, number, 1, worker, SECONDS)
    assert not counts["FAILS"], capsys.readouterr().out
    assert counts["refused"] > number / 3
