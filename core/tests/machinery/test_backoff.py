from random import Random

from hyperkube.machinery.backoff import Backoff, KeyedBackoff
from hyperkube.machinery.clock import FakeClock


def test_delays_double_up_to_the_cap():
    assert [Backoff(1, 10).delay(failures) for failures in range(1, 7)] == [1, 2, 4, 8, 10, 10]
    assert Backoff(1, 10).delay(100_000) == 10
    assert Backoff(1, 10).delay(0) == 0


def test_jitter_only_lengthens():
    random = Random(1)

    assert all(1 <= Backoff(1, 1, jitter=0.5).delay(1, random) <= 1.5 for _ in range(100))


def test_each_key_waits_for_itself_and_starts_anew_when_left_alone():
    clock = FakeClock()
    backoff = KeyedBackoff(clock, Backoff(10, 300))

    assert [backoff.failed("a"), backoff.failed("a"), backoff.failed("b")] == [10, 20, 10]
    clock.advance(5)
    assert (backoff.remaining("a"), backoff.remaining("b"), backoff.remaining("c")) == (15, 5, 0)
    clock.advance(601)
    backoff.collect()
    assert (backoff.delay("a"), backoff.failed("a")) == (0, 10)


def test_a_forgotten_key_may_be_tried_at_once():
    backoff = KeyedBackoff(FakeClock(), Backoff(10, 300))
    backoff.failed("a")

    backoff.forget("a")

    assert backoff.remaining("a") == 0
