"""One-time tokens and sessions."""

import pytest
from hyperkube_lib.console.sessions import IDLE_SECONDS, MOST_SESSIONS, Sessions

from hyperkube.machinery.clock import FakeClock

USER = 1000


def test_a_token_signs_in_once():
    sessions = Sessions(FakeClock())
    token = sessions.one_time_token

    assert not sessions.redeem("")
    assert not sessions.redeem(token + "x")
    assert sessions.redeem(token)
    assert not sessions.redeem(token)
    assert sessions.redeem(sessions.one_time_token)


def test_a_session_has_secrets_of_its_own():
    sessions = Sessions(FakeClock())

    one, other = sessions.open(None, USER), sessions.open(None, USER)

    assert len({one.key, one.csrf, other.key, other.csrf}) == 4
    assert sessions.find(one.key, USER) is one
    assert sessions.find("", USER) is None


def test_it_lasts_while_it_is_used():
    clock = FakeClock()
    sessions = Sessions(clock)
    session = sessions.open(None, USER)

    clock.advance(IDLE_SECONDS - 1)
    assert sessions.find(session.key, USER) is session
    clock.advance(IDLE_SECONDS - 1)
    assert sessions.find(session.key, USER) is session
    clock.advance(IDLE_SECONDS + 1)
    assert sessions.find(session.key, USER) is None


def test_signing_out_ends_it():
    sessions = Sessions(FakeClock())
    session = sessions.open(None, USER)

    sessions.close(session.key)

    assert sessions.find(session.key, USER) is None


def test_the_one_that_rested_longest_makes_room():
    clock = FakeClock()
    sessions = Sessions(clock)
    opened = []
    for _ in range(MOST_SESSIONS):
        clock.advance(1)
        opened.append(sessions.open(None, USER))
    clock.advance(1)
    sessions.find(opened[0].key, USER)

    sessions.open(None, USER)

    assert sessions.find(opened[0].key, USER) is opened[0]
    assert sessions.find(opened[1].key, USER) is None


@pytest.mark.parametrize("other", [0, 1001, None])
def test_it_is_the_machines_users_who_opened_it(other):
    sessions = Sessions(FakeClock())
    session = sessions.open(None, USER)

    assert sessions.find(session.key, other) is None
    assert sessions.find(session.key, USER) is session  # a try of another's does not end it
