import pytest

from brdiv.games import Reaching
from brdiv.serve.match import PERSON, Match
from brdiv.serve.messages import Message, Refusal
from brdiv.serve.offers import Offer
from brdiv.serve.sessions import Sessions

OFFER = Offer("Reaching", Reaching())


def match():
    return Match(OFFER.game, [PERSON, "H1"], [None, OFFER.seats[1]["H1"]], 0)


def test_there_are_no_more_games_than_there_may_be():
    sessions = Sessions(most=2, idle=10)
    names = [sessions.add(match(), False) for _ in range(2)]
    with pytest.raises(Refusal) as no:
        sessions.add(match(), False)
    assert no.value.status == 503
    sessions.end(names[0])
    sessions.add(match(), False)
    sessions.find(names[1])


def test_a_game_that_is_over_gives_way_to_a_new_one():
    sessions = Sessions(most=2, idle=10)
    over, played = sessions.add(match(), False), sessions.add(match(), False)
    while not sessions.find(over).match.over:
        sessions.find(over).match.advance(0)
    sessions.add(match(), False)
    assert sessions.find(played)
    with pytest.raises(Refusal):
        sessions.find(over)


def test_a_game_that_nobody_touches_is_ended():
    now = [0.0]
    sessions = Sessions(most=2, idle=10, clock=lambda: now[0])
    idle, played = sessions.add(match(), False), sessions.add(match(), False)
    now[0] = 8.0
    sessions.find(played)
    now[0] = 12.0
    with pytest.raises(Refusal) as no:
        sessions.find(idle)
    assert no.value.status == 404
    assert sessions.find(played)
    sessions.add(match(), False)


@pytest.mark.parametrize(
    "body",
    [b"", b"\xff", b"[]", b"3", b'{"other": 1}', b"[" * 4000, b'{"step": true}', b'{"step": 1.0}', b'{"step": 11}',
     b'{"step": "1"}', b'{"step": NaN}', b'{"step": ' + b"9" * 4000 + b"}"],
)  # fmt: skip
def test_a_message_that_makes_no_sense_is_refused(body):
    with pytest.raises(Refusal) as no:
        Message(body, frozenset({"step"})).whole("step", 0, 10)
    assert no.value.status == 400
    assert len(no.value.reason.splitlines()) == 1
