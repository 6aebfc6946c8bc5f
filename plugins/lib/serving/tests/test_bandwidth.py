"""How fast bytes may pass."""

import pytest
from hyperkube_lib.serving.bandwidth import BandwidthLimit
from hyperkube_lib.serving.limits import EdgeLimits


def test_without_a_rate_nobody_waits():
    assert BandwidthLimit(0).spend(1 << 30, 5.0) == 0.0


def test_bytes_are_waited_for_as_long_as_they_should_have_taken():
    limit = BandwidthLimit(100)

    assert limit.spend(50, 10.0) == pytest.approx(0.5)
    assert limit.spend(50, 10.0) == pytest.approx(1.0)


def test_rest_is_not_saved_up():
    limit = BandwidthLimit(100)
    limit.spend(100, 0.0)

    assert limit.spend(100, 60.0) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("query", "seconds"),
    [
        ("", 60.0),
        ("timeout=5s", 5.0),
        ("pretty=1&timeout=250ms", 0.25),
        ("timeout=5m", 60.0),
        ("timeout=0s", 60.0),
        ("timeout=-1s", 60.0),
        ("timeout=soon", 60.0),
        ("timeoutSeconds=5", 60.0),
    ],
)
def test_a_client_may_ask_for_less_time_and_not_for_more(query, seconds):
    assert EdgeLimits(client_timeouts=True).allotted(query) == seconds


def test_only_the_api_lets_clients_ask():
    assert EdgeLimits().allotted("timeout=5s") == 60.0


def test_a_client_may_set_a_limit_where_there_is_none():
    assert EdgeLimits(request_timeout=0.0, client_timeouts=True).allotted("timeout=5s") == 5.0
