"""Put-off calls that share the clock's timers."""

import pytest
from hyperkube_host.apiserver.serializer.coarse_timers import PRECISE_SECONDS, CoarseTimers

from hyperkube.machinery.clock import FakeClock


class CountingClock(FakeClock):
    """Counts the timers that are asked for."""

    asked = 0

    def call_later(self, seconds, call):
        self.asked += 1
        return super().call_later(seconds, call)


@pytest.fixture
def clock():
    return CountingClock()


def test_calls_of_one_second_share_a_timer(clock):
    timers, made = CoarseTimers(clock), []

    for number in range(100):
        timers.call_later(59.5 + number / 1000, lambda number=number: made.append(number))
    clock.advance(60)

    assert sorted(made) == list(range(100))
    assert clock.asked == 1


def test_a_call_is_never_made_early_and_at_most_a_second_late(clock):
    timers, made = CoarseTimers(clock), []
    clock.advance(0.25)

    timers.call_later(60, lambda: made.append(clock.monotonic()))
    clock.advance(60)
    assert not made
    clock.advance(0.75)

    assert made == [61.0]


def test_what_is_due_soon_is_made_in_time(clock):
    timers, made = CoarseTimers(clock), []
    clock.advance(0.25)

    timers.call_later(PRECISE_SECONDS - 1, lambda: made.append(clock.monotonic()))
    clock.advance(PRECISE_SECONDS - 1)

    assert made == [PRECISE_SECONDS - 0.75]


def test_a_turn_comes_once_a_minute_and_what_is_asked_within_it_waits_for_the_next(clock):
    timers, made = CoarseTimers(clock), []
    clock.advance(0.25)

    def again():
        made.append(clock.monotonic())
        timers.call_at(timers.next_turn(3, 60), again)

    timers.call_at(timers.next_turn(3, 60), again)
    for _ in range(3):
        clock.advance(60)

    assert made == [3.0, 63.0, 123.0]
    assert clock.asked == 4


def test_a_cancelled_call_is_not_made(clock):
    timers, made = CoarseTimers(clock), []
    kept = timers.call_later(60, lambda: made.append("kept"))
    dropped = timers.call_later(60, lambda: made.append("dropped"))

    dropped.cancel()
    dropped.cancel()
    clock.advance(60)
    kept.cancel()

    assert made == ["kept"]


def test_a_call_may_put_off_the_next(clock):
    timers, made = CoarseTimers(clock), []

    def again():
        made.append(clock.monotonic())
        timers.call_later(60, again)

    timers.call_later(60, again)
    for _ in range(3):
        clock.advance(60)

    assert made == [60.0, 120.0, 180.0]
