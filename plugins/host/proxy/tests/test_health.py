"""What load balancers and restarters are told."""

import orjson
import pytest
from hyperkube_host.proxy.health import ProxyHealth
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.machinery.clock import FakeClock

FAMILIES = ("IPv4", "IPv6")
HEALTH_TIMEOUT_SECONDS = 60.0


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def health(clock):
    return ProxyHealth(clock, FAMILIES, HEALTH_TIMEOUT_SECONDS)


def update(health):
    for family in FAMILIES:
        health.updated(family)


def ask(health, path="/healthz"):
    answer = health.answer(HttpRequest(method="GET", path=path))
    return answer.status, orjson.loads(answer.body)


def test_a_proxy_that_starts_is_healthy(health):
    status, body = ask(health)

    assert status == 200
    assert body["nodeEligible"] is True
    assert body["lastUpdated"] == body["currentTime"]


def test_a_change_may_wait_for_a_while(health, clock):
    health.queued()
    clock.advance(HEALTH_TIMEOUT_SECONDS - 1)
    health.queued()

    assert ask(health)[0] == 200
    clock.advance(1)
    assert ask(health)[0] == 503
    assert ask(health, "/livez")[0] == 503
    update(health)
    assert ask(health)[0] == 200


def test_one_that_is_late_says_when_it_last_kept_up(health, clock):
    update(health)
    kept_up = ask(health)[1]["currentTime"]
    health.queued()
    clock.advance(HEALTH_TIMEOUT_SECONDS)

    assert ask(health)[1]["lastUpdated"] == kept_up


@pytest.mark.parametrize(
    "node",
    [
        pytest.param({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "spec": {}}, id="deleted"),
        pytest.param(
            {"metadata": {}, "spec": {"taints": [{"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}]}},
            id="marked",
        ),
    ],
)
def test_a_node_that_goes_gets_no_connections_but_its_proxy_lives(health, node):
    health.see_node(node)

    assert ask(health)[0] == 503
    assert ask(health)[1]["nodeEligible"] is False
    assert ask(health, "/livez")[0] == 200
    health.see_node({"metadata": {}, "spec": {}})
    assert ask(health)[0] == 200


def test_there_is_nothing_else(health):
    assert health.answer(HttpRequest(method="GET", path="/metrics")) is None
