"""What a controller has done and has not seen yet."""

from hyperkube.client.expectations import TIMEOUT, Expectations, Written
from hyperkube.machinery.clock import FakeClock


def test_it_waits_until_all_was_seen():
    expectations = Expectations(FakeClock())
    expectations.expect("k", creations=2, deletions=["u1"])

    expectations.creation_observed("k")
    expectations.deletion_observed("k", "u1")
    assert not expectations.satisfied("k")
    expectations.creation_observed("k")

    assert expectations.satisfied("k")


def test_it_does_not_wait_for_ever():
    clock = FakeClock()
    expectations = Expectations(clock)
    expectations.expect("k", creations=1)

    clock.advance(TIMEOUT + 1)

    assert expectations.satisfied("k")


def test_a_cache_that_is_older_than_the_last_write_is_stale():
    written = Written()
    written.note("k", {"metadata": {"uid": "u", "resourceVersion": "10"}})

    assert written.is_stale("k", {"metadata": {"uid": "u", "resourceVersion": "9"}})
    assert not written.is_stale("k", {"metadata": {"uid": "u", "resourceVersion": "11"}})
    assert not written.is_stale("k", {"metadata": {"uid": "other", "resourceVersion": "1"}})
