"""One-time tokens and sessions."""

from hyperkube_lib.console.sessions import IDLE_SECONDS, MOST_SESSIONS, Sessions

from hyperkube.machinery.clock import FakeClock


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

    one, other = sessions.open(None), sessions.open(None)

    assert len({one.key, one.csrf, other.key, other.csrf}) == 4
    assert sessions.find(one.key) is one
    assert sessions.find("") is None


def test_it_lasts_while_it_is_used():
    clock = FakeClock()
    sessions = Sessions(clock)
    session = sessions.open(None)

    clock.advance(IDLE_SECONDS - 1)
    assert sessions.find(session.key) is session
    clock.advance(IDLE_SECONDS - 1)
    assert sessions.find(session.key) is session
    clock.advance(IDLE_SECONDS + 1)
    assert sessions.find(session.key) is None


def test_signing_out_ends_it():
    sessions = Sessions(FakeClock())
    session = sessions.open(None)

    sessions.close(session.key)

    assert sessions.find(session.key) is None


def test_the_one_that_rested_longest_makes_room():
    clock = FakeClock()
    sessions = Sessions(clock)
    opened = []
    for _ in range(MOST_SESSIONS):
        clock.advance(1)
        opened.append(sessions.open(None))
    clock.advance(1)
    sessions.find(opened[0].key)

    sessions.open(None)

    assert sessions.find(opened[0].key) is opened[0]
    assert sessions.find(opened[1].key) is None
