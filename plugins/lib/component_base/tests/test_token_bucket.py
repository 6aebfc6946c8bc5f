"""Tokens at once, and then one after another."""

from hyperkube_lib.component_base.token_bucket import TokenBucket

from hyperkube.machinery.clock import FakeClock


def test_a_burst_is_there_at_once_and_what_comes_after_it_later():
    clock = FakeClock()
    bucket = TokenBucket(clock, rate=2.0, burst=3)

    waits = [bucket.reserve() for _ in range(5)]

    assert [wait <= 0 for wait in waits] == [True, True, True, False, False]
    assert waits[3:] == [0.5, 1.0]


def test_time_fills_it_but_not_beyond_its_size():
    clock = FakeClock()
    bucket = TokenBucket(clock, rate=2.0, burst=1)
    bucket.reserve()

    clock.advance(60)

    assert bucket.reserve() <= 0 < bucket.reserve()


def test_a_token_that_is_yet_to_come_is_not_accepted():
    clock = FakeClock()
    bucket = TokenBucket(clock, 2.0, 1)

    taken = [bucket.try_accept(), bucket.try_accept()]
    clock.advance(0.5)

    assert [*taken, bucket.try_accept(), bucket.try_accept()] == [True, False, True, False]
