"""Bindings in a burst, then by the second."""

import threading

from hyperkube_host.scheduler.binding.bind_rate import BindPodsRateLimiter

from hyperkube.machinery.clock import FakeClock


class Waits:
    """A clock that notes each wait and lets it pass."""

    def __init__(self):
        self._clock = FakeClock()
        self.waits = []

    def monotonic(self):
        return self._clock.monotonic()

    def wait(self, _event, seconds):
        self.waits.append(round(seconds, 3))
        self._clock.advance(seconds)


def test_a_burst_goes_at_once_and_the_rest_by_the_rate():
    clock = Waits()
    rate = BindPodsRateLimiter(clock, 4.0, 3)

    for _ in range(6):
        rate.take(threading.Event())

    assert clock.waits == [0.25, 0.25, 0.25]


def test_an_idle_second_fills_the_bucket_no_further_than_the_burst():
    clock = Waits()
    rate = BindPodsRateLimiter(clock, 10.0, 2)
    clock.wait(None, 60.0)
    clock.waits.clear()

    for _ in range(3):
        rate.take(threading.Event())

    assert clock.waits == [0.1]


def test_no_rate_limits_nothing():
    clock = Waits()

    for _ in range(100):
        BindPodsRateLimiter(clock, 0.0, 0).take(threading.Event())

    assert clock.waits == []
