import pytest
import torch

from brdiv.games import Policies, SeatView
from brdiv.teamwork import Rotation


class Clock(Policies):
    """Does what time it is in its own episode; by its second policy, ten more."""

    names = ("now", "ten later")

    def __init__(self, key="time"):
        self.key = key

    def begin(self, which, seen, generator):
        return {self.key: torch.zeros_like(which), "start": [seen.observation[:, 0]]}

    def act(self, which, seen, memory, generator):
        memory[self.key] = memory[self.key] + 1
        return memory[self.key] + 10 * which

    def watch(self, which, other, action, memory):
        memory["start"] = [memory["start"][0] + action]


def played(candidates, rows=5, steps=30, waits_to_look=False):
    """Rows that end whenever chance says so: what was done, what was expected, and the rotation at the end."""
    generator = torch.Generator().manual_seed(0)
    rotation = Rotation(candidates, rows, generator)
    rotation.waits_to_look = waits_to_look
    which = torch.zeros(rows, dtype=torch.long)
    time, done = torch.zeros(rows, dtype=torch.long), torch.ones(rows, dtype=torch.bool)
    pairs, summed = [], torch.zeros(rows)
    for step in range(steps):
        seen = SeatView(None, torch.full((rows, 1), float(step)))
        fresh = torch.randint(len(candidates), (rows,), generator=generator)
        which, time = torch.where(done, fresh, which), time.masked_fill(done, 0)
        summed = torch.where(done, float(step), summed)
        rotation.sit_down(fresh, done, seen)
        time = time + 1
        pairs.append((rotation.act(seen).tolist(), time + 10 * torch.tensor([n for _, n in candidates])[which]))
        rotation.watch(seen, torch.full((rows,), 2))
        summed += 2
        done = torch.rand(rows, generator=generator) < 0.3
    return pairs, rotation, summed


@pytest.mark.parametrize("waits_to_look", [False, True], ids=["on the CPU", "as off the CPU"])
@pytest.mark.parametrize("kinds", [1, 2])
def test_every_row_remembers_its_own_episode_and_nothing_of_the_one_before(kinds, waits_to_look):
    first = Clock()
    second = Clock("hours") if kinds == 2 else first
    pairs, rotation, summed = played([(first, 0), (second, 1), (second, 0)], waits_to_look=waits_to_look)
    for done, expected in pairs:
        assert done == expected.tolist()
    remembered = torch.stack([rotation.memory[kind]["start"][0] for kind in range(kinds)])
    assert torch.equal(remembered[rotation.kind, torch.arange(5)], summed)


def test_policies_that_act_together_are_called_once():
    clock = Clock()
    assert len(Rotation([(clock, 0), (clock, 1)], 3, torch.Generator()).kinds) == 1


def test_what_can_not_be_put_together_by_rows_is_refused():
    class Odd(Clock):
        def begin(self, which, seen, generator):
            return object()

    with pytest.raises(TypeError, match="remembers object"):
        played([(Odd(), 0)])
