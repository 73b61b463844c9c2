"""Windows of a learner's play: hidden state, last actions and values, row by row."""

import copy

import pytest
import torch

from brdiv.games import RESPONSE, TEAMMATE
from brdiv.recurrent import Seen
from tests.doors.populations import small_file
from tests.learners.small import collector_of, small_net

MIXES = {"heuristics": ["H1,H8"], "random": ["random"], "both": ["H3", "random"]}


@pytest.fixture(params=MIXES)
def collector(request):
    return collector_of(MIXES[request.param])


def test_memory_values_and_last_actions_are_those_of_a_literal_loop(collector):
    """Two windows, every row and step: forgotten exactly at episode starts, carried across the windows' border."""
    net, nothing = collector.net, collector.net.n_actions
    windows = [collector.rollout() for _ in range(2)]
    assert sum(int(w["next", "done"].sum()) for w in windows) > 8
    for row in range(8):
        memory, own, other, ended = net.start(1)[0], nothing, nothing, True
        for window in windows:
            torch.testing.assert_close(window["memory"][row, 0], memory)
            for step in range(6):
                now = window[row, step]
                assert bool(now["start"]) == ended
                assert (int(now["own"]), int(now["other"])) == (own, other)
                seen = (now["agents", "observation"][RESPONSE], torch.tensor(own), torch.tensor(other))
                with torch.no_grad():
                    out = net.step(Seen(*(part[None] for part in seen)), memory[None])
                torch.testing.assert_close(now["value"], out.value[0])
                done = now["agents", "action"]
                chosen = out.logits.log_softmax(-1)[0, done[RESPONSE]]
                torch.testing.assert_close(now["log_prob"], chosen)
                ended = bool(now["next", "done"])
                memory = torch.zeros(8) if ended else out.memory[0]
                own, other = (nothing, nothing) if ended else (int(done[RESPONSE]), int(done[TEAMMATE]))


def test_next_values_are_those_of_the_true_next_observation(collector):
    """Within an episode the next step's; at the time limit and the window's end one step further; after a win none."""
    collector.rollout()
    window = collector.rollout()
    net, after = collector.net, window["next"]
    output = net(
        Seen(window["agents", "observation"][..., RESPONSE, :], window["own"], window["other"]),
        window["start"], window["memory"][:, 0],
    )  # fmt: skip
    for row in range(8):
        for step in range(6):
            done = window["agents", "action"][row, step]
            seen = (after["agents", "observation"][row, step, RESPONSE], done[RESPONSE], done[TEAMMATE])
            expected = net.step(Seen(*(part[None] for part in seen)), output.memory[row, step][None]).value[0]
            expected = torch.zeros(()) if after["terminated"][row, step] else expected
            torch.testing.assert_close(after["value"][row, step], expected.detach())


def test_every_row_plays_as_it_would_alone_with_those_actions(collector):
    """The network on the whole batch, on one row, and on what the collector noted, all agree."""
    window = collector.rollout()
    seen = Seen(window["agents", "observation"][..., RESPONSE, :], window["own"], window["other"])
    with torch.no_grad():
        for row in range(8):
            one = slice(row, row + 1)
            alone = collector.net(Seen(*(p[one] for p in seen)), window["start"][one], window["memory"][one, 0])
            torch.testing.assert_close(alone.value, window["value"][one])


def test_teammates_are_drawn_when_an_episode_starts_and_kept_until_it_ends():
    collector = collector_of(["heuristics"], rows=32, window=12)
    window = collector.rollout()
    ids, done = window["ids"][..., TEAMMATE], window["next", "done"].squeeze(-1)
    changed = ids[:, 1:] != ids[:, :-1]
    assert changed.any()
    assert not (changed & ~done[:, :-1]).any()
    assert len(ids.unique()) == 11


def test_weights_say_how_often_a_teammate_is_drawn():
    from brdiv.games import Reaching
    from brdiv.learners import LearnerData

    data = LearnerData(["H1,H2,H3"], weights=[3, 0, 1], game=Reaching(), rows=4000, window=1, steps=4000)
    ids = data.pairing.draw(torch.Generator().manual_seed(0))[0, :, 0]
    assert ids.bincount(minlength=3).tolist() == pytest.approx([3000, 0, 1000], abs=120)


def test_teammates_act_as_they_do_in_play(tmp_path):
    """A population's teammates sample from their own policies on their own seat's view."""
    file = small_file(tmp_path, horizon=5)
    collector = collector_of([f"{file}:2"], rows=512, window=1)
    collector.rollout()
    window = collector.rollout()
    population = collector.rotation.kinds[0].population
    observation = window["agents", "observation"][:, 0, TEAMMATE]
    likely = population.logits(observation, torch.ones(512, dtype=torch.long)).softmax(-1)
    counted = torch.nn.functional.one_hot(window["agents", "action"][:, 0, TEAMMATE], 5).float()
    torch.testing.assert_close(counted.mean(0), likely.mean(0), atol=0.07, rtol=0)


@pytest.mark.parametrize("teammates", MIXES.values(), ids=MIXES)
@pytest.mark.parametrize("game", ["Reaching", "LBF", "Cooking"])
def test_a_collector_resumes_where_another_stood(teammates, game):
    first = collector_of(teammates, game)
    first.rollout()
    state = copy.deepcopy(first.state_dict())
    second = collector_of(teammates, game, seed=9)
    second.load_state_dict(state)
    for _ in range(2):
        ours, theirs = first.rollout(), second.rollout()
        assert (ours == theirs).all()


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ({"memory": torch.zeros(8, 9)}, "another kind"),
        ({"own": torch.full((8,), 77)}, "don't exist"),
        ({"memory": torch.full((8, 8), torch.nan)}, "not finite"),
    ],
)
def test_a_damaged_memory_is_refused(damage, told):
    collector = collector_of(["H1"])
    collector.rollout()
    state = copy.deepcopy(collector.state_dict())
    state["play"]["learner"].update(damage)
    with pytest.raises(ValueError, match=told):
        collector_of(["H1"]).load_state_dict(state)


def test_the_learner_plays_evaluation_as_it_plays_training():
    """The network through `play`, as in every command, gives the log-probabilities that the collector noted."""
    from brdiv.games import Reaching, SeatView
    from brdiv.teamwork import TrainedLearner

    collector = collector_of(["H1"], net=small_net(Reaching()))
    window = collector.rollout()
    learner, which = TrainedLearner(collector.net), torch.zeros(8, dtype=torch.long)
    memory = learner.begin(which, None, None)
    for step in range(2):  # no episode ends before
        assert not window["next", "done"][:, step].any()
        now = window[:, step]
        seen = SeatView(None, now["agents", "observation"][:, RESPONSE])
        probabilities = learner.probabilities(which, seen, memory)
        action = now["agents", "action"]
        noted = now["log_prob"].exp()
        torch.testing.assert_close(probabilities.gather(1, action[:, RESPONSE, None]).squeeze(1), noted)
        learner.act(which, seen, memory, torch.Generator())
        memory["own"] = action[:, RESPONSE]  # what was really done
        learner.watch(which, seen, action[:, TEAMMATE], memory)
