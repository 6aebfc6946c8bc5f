"""How often a server asks the API server."""

from __future__ import annotations

from hyperkube_lib.component_base.request_rate import PacedRequestCounts, request_counts

from hyperkube.command.common_flags import API_CLIENT
from hyperkube.plugin.flags import FlagValues


class Sleeping:
    """A clock that moves when it is slept on."""

    def __init__(self):
        self.now = 100.0
        self.slept = []

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(round(seconds, 6))
        self.now += seconds


def test_a_burst_goes_through_and_then_the_rate_holds():
    clock = Sleeping()
    counts = PacedRequestCounts(clock, qps=10.0, burst=3)

    for _ in range(6):
        counts.count("200", "GET", "h")

    assert clock.slept == [0.1, 0.1, 0.1]


def test_a_rest_fills_it_again():
    clock = Sleeping()
    counts = PacedRequestCounts(clock, qps=10.0, burst=3)
    for _ in range(4):
        counts.count("200", "GET", "h")
    clock.now += 60
    clock.slept.clear()

    for _ in range(3):
        counts.count("200", "GET", "h")

    assert clock.slept == []


def test_the_flags_choose():
    assert type(request_counts(FlagValues.of(API_CLIENT, {}))).__name__ == "RequestCounts"
    assert isinstance(request_counts(FlagValues.of(API_CLIENT, {"kube-api-qps": "5"})), PacedRequestCounts)
