"""When the scheduler tells of its decisions: refusals at once, successes when the burst is over or has gone on for long."""

import threading

import pytest
from hyperkube_host.scheduler.api_dispatcher import api_dispatcher
from hyperkube_host.scheduler.api_dispatcher.api_dispatcher import AT_ONCE, SHARE_AT_ONCE, ApiDispatcher

from hyperkube.client.events import EventRecorder
from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import EVENTS, PODS
from hyperkube.machinery.clock import SystemClock


def pod(name):
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "d", "uid": name}, "spec": {}}


@pytest.fixture
def cluster():
    """Yield a client, what makes a dispatcher of a queue that is busy or not, and closes it in the end."""
    clock, made = SystemClock(), []
    client = FakeClient(clock)

    def dispatcher(*, busy=False):
        recorder = EventRecorder(client, clock, "default-scheduler")
        made.append(ApiDispatcher(client, clock, recorder, lambda: busy))
        return made[-1]

    yield client, dispatcher
    for each in made:
        each.close()
    clock.close()


def wait_for(condition):
    tick = threading.Event()
    for _ in range(3000):
        if condition():
            return
        tick.wait(0.01)
    raise AssertionError("it has not come to hold")


def told(client):
    return [event["message"] for event in client.objects(EVENTS) if event["reason"] == "Scheduled"]


def test_a_success_is_told_once_nothing_else_is_bound(cluster):
    client, dispatcher = cluster

    dispatcher().record_scheduled(pod("a"), "n1")

    wait_for(lambda: told(client) == ["Successfully assigned d/a to n1"])


def test_successes_wait_while_pods_are_to_be_scheduled_and_a_refusal_does_not(cluster, monkeypatch):
    monkeypatch.setattr(api_dispatcher, "PATIENCE_SECONDS", 600.0)
    monkeypatch.setattr(api_dispatcher, "QUIET_SECONDS", 0.001)
    client, dispatcher = cluster
    client.create(PODS, pod("b"))
    busy = dispatcher(busy=True)

    busy.record_scheduled(pod("a"), "n1")
    busy.record_failure(pod("b"), "Unschedulable", "0/1 nodes are available")

    wait_for(lambda: [event["reason"] for event in client.objects(EVENTS)] == ["FailedScheduling"])
    wait_for(lambda: client.get(PODS, "b", "d").get("status", {}).get("conditions"))
    assert told(client) == []
    busy.close()
    assert told(client) == ["Successfully assigned d/a to n1"]


def test_in_a_burst_that_does_not_end_a_part_of_them_is_told(cluster, monkeypatch):
    monkeypatch.setattr(api_dispatcher, "PATIENCE_SECONDS", 0.05)
    client, dispatcher = cluster
    busy = dispatcher(busy=True)

    for number in range(3 * AT_ONCE):
        busy.record_scheduled(pod(f"p{number}"), "n1")

    wait_for(lambda: len(told(client)) >= AT_ONCE)
    wait_for(lambda: len(told(client)) == 3 * AT_ONCE)


def test_of_very_many_a_share_is_told_together(cluster, monkeypatch):
    monkeypatch.setattr(api_dispatcher, "PATIENCE_SECONDS", 600.0)
    monkeypatch.setattr(api_dispatcher, "AT_ONCE", 1)
    _, dispatcher = cluster
    busy = dispatcher(busy=True)
    for number in range(3 * SHARE_AT_ONCE):
        busy.record_scheduled(pod(f"p{number}"), "n1")

    assert [about["name"] for about, _, _ in busy._take_bound()] == ["p0", "p1", "p2"]
