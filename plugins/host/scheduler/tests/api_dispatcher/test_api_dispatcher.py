"""When the scheduler tells of its decisions: refusals at once, successes when the burst is over or has gone on for long."""

import threading

import pytest
from hyperkube_host.scheduler.api_dispatcher import api_dispatcher
from hyperkube_host.scheduler.api_dispatcher.api_dispatcher import AT_ONCE, REPORTERS, SHARE_AT_ONCE, ApiDispatcher

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

    def dispatcher(*, busy=False, writes=client, waits=lambda _pod: True):
        recorder = EventRecorder(client, clock, "default-scheduler")
        made.append(ApiDispatcher(writes, clock, recorder, lambda: busy, waits))
        return made[-1]

    yield client, dispatcher
    for each in made:
        each.close()
    clock.close()


class Slow:
    """A client whose patches wait until `open` is set; `came` has them in the order in which they came."""

    def __init__(self, client):
        self._client = client
        self.open = threading.Event()
        self.came = []

    def patch(self, resource, name, patch, *given, **more):
        self.came.append((name, patch["status"]))
        assert self.open.wait(30)
        return self._client.patch(resource, name, patch, *given, **more)


def message(client, name):
    conditions = client.get(PODS, name, "d").get("status", {}).get("conditions") or [{}]
    return conditions[0].get("message")


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


def test_refusals_of_several_pods_do_not_wait_for_each_other(cluster):
    client, dispatcher = cluster
    slow = Slow(client)
    reports = dispatcher(writes=slow)
    for number in range(REPORTERS + 4):
        client.create(PODS, pod(f"p{number}"))
        reports.record_failure(pod(f"p{number}"), "Unschedulable", "no room")

    wait_for(lambda: len(slow.came) == REPORTERS)

    slow.open.set()
    wait_for(lambda: len(slow.came) == REPORTERS + 4)
    wait_for(lambda: message(client, f"p{REPORTERS + 3}") == "no room")


def one_under_way(client, dispatcher):
    """Return the client, a slow one, and the reports through that: the first, on pod ``a``, is being written."""
    client.create(PODS, pod("a"))
    slow = Slow(client)
    reports = dispatcher(writes=slow)
    reports.record_failure(pod("a"), "Unschedulable", "first")
    wait_for(lambda: slow.came)
    return client, slow, reports


def test_of_what_waits_to_be_told_of_a_pod_the_latest_is_written(cluster):
    client, slow, reports = one_under_way(*cluster)

    reports.record_failure(pod("a"), "Unschedulable", "second", "n1")
    reports.record_failure(pod("a"), "Unschedulable", "third")
    reports.clear_nomination(pod("a"), "n0")
    reports.record_failure(pod("a"), "Unschedulable", "fourth")
    slow.open.set()

    wait_for(lambda: message(client, "a") == "fourth")
    assert [status["conditions"][0]["message"] for _, status in slow.came] == ["first", "fourth"]
    assert "nominatedNodeName" not in client.get(PODS, "a", "d")["status"]


def test_a_nomination_that_is_cleared_is_not_told_of(cluster):
    client, slow, reports = one_under_way(*cluster)

    reports.record_failure(pod("a"), "Unschedulable", "second", "n1")
    reports.clear_nomination(pod("a"), "n1")
    slow.open.set()

    wait_for(lambda: message(client, "a") == "second")
    assert slow.came[-1][1]["nominatedNodeName"] is None


def test_a_pod_that_is_gone_or_has_a_node_is_left_alone(cluster):
    client, dispatcher = cluster
    slow = Slow(client)
    slow.open.set()
    reports = dispatcher(writes=slow, waits=lambda pod: pod["metadata"]["name"] == "b")
    client.create(PODS, pod("b"))

    reports.record_failure(pod("a"), "Unschedulable", "no room")
    reports.record_failure(pod("b"), "Unschedulable", "no room")
    reports.close()

    assert [name for name, _ in slow.came] == ["b"]
    assert [event["involvedObject"]["name"] for event in client.objects(EVENTS)] == ["b"]


def test_before_a_pod_is_bound_what_is_written_of_it_is_awaited_and_what_waits_is_dropped(cluster):
    client, slow, reports = one_under_way(*cluster)
    reports.record_failure(pod("a"), "Unschedulable", "second")
    settled = threading.Event()
    binding = threading.Thread(target=lambda: (reports.settle("d/a"), settled.set()), daemon=True)

    binding.start()

    assert not settled.wait(0.05)
    slow.open.set()
    assert settled.wait(30)
    reports.close()
    assert message(client, "a") == "first"
    assert len(slow.came) == 1


def test_a_bug_in_one_report_does_not_keep_the_others(cluster):
    _, dispatcher = cluster
    reports, written = dispatcher(), []

    def fails():
        raise ZeroDivisionError

    reports.add("one", fails)
    reports.add("other", lambda: written.append(True))

    wait_for(lambda: written)


def test_a_few_bindings_are_no_burst(cluster, monkeypatch):
    monkeypatch.setattr(api_dispatcher, "PATIENCE_SECONDS", 600.0)
    client, dispatcher = cluster
    reports = dispatcher()
    tick = threading.Event()

    for number in range(10):
        reports.record_scheduled(pod(f"p{number}"), "n1")
        tick.wait(0.03)

    wait_for(lambda: len(told(client)) == 10)


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
