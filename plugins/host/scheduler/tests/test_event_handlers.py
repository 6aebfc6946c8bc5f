"""What placed pods' news mean to pods that wait: room may be left by a pod that was made smaller.

The cases are those that kubernetes ``pkg/scheduler/framework/plugins/noderesources/fit_test.go``
(Test_isSchedulableAfterPodChange) has for other pods' changes; that more pods are tried than must be is allowed.
"""

import pytest
from hyperkube_host.scheduler.cache.cache import SchedulerCache
from hyperkube_host.scheduler.event_handlers import EventHandlers
from hyperkube_host.scheduler.metrics.metrics import SchedulerMetrics

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import NODES, PODS
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.objects import copy_object
from hyperkube.testing.waiting import eventually


class Moves:
    """A queue that notes what it is told."""

    def __init__(self):
        self.told = []

    def move_all(self, event):
        self.told.append(event)

    def delete(self, key):
        self.told.append(key)

    def reject(self, key, reason):
        self.told.append((key, reason))


def pod(cpu="1", *, whole=False, has=None, **more):
    resources = {"requests": {"cpu": cpu}}
    spec = {"nodeName": "fake", "containers": [{"name": "c", "resources": {} if whole else resources}]}
    if whole:
        spec["resources"] = resources
    statuses = [{"name": "c", "resources": {"requests": {"cpu": has}}}] if has else []
    meta = {"name": "pod2", "namespace": "default", "uid": "u2"}
    return {"metadata": meta, "spec": spec, "status": {"containerStatuses": statuses, **more}}


@pytest.fixture
def world():
    client, clock, moves = FakeClient(), FakeClock(), Moves()
    informers = InformerFactory(client, clock)
    EventHandlers(SchedulerCache(), moves, None, SchedulerMetrics(clock), moves.reject).watch(informers)
    informers.start()
    yield client, moves
    informers.stop()


def write(client, pod):
    """Write a pod's spec, then its status."""
    for part in ("", "status"):
        stored = copy_object(client.get(PODS, "pod2", "default"))
        client.update(PODS, {**copy_object(pod), "metadata": stored["metadata"]}, subresource=part)


def settle(client, moves, name):
    """Wait until everything that happened is told: another pod, which comes now, is."""
    client.create(PODS, {**pod(), "metadata": {"name": name, "namespace": "default", "uid": name}})
    eventually(lambda: f"default/{name}" in moves.told and moves.told[-1] == "pod")


@pytest.mark.parametrize(
    ("before", "after", "leaves_room"),
    [
        pytest.param(pod("2"), pod("1"), True, id="a container is made smaller"),
        pytest.param(pod("2", whole=True), pod("1", whole=True), True, id="the pod as a whole is"),
        pytest.param(pod("1", has="2"), pod("1", has="1"), True, id="its kubelet took away what it had"),
        pytest.param(pod("1", has="1"), pod("1", has="1", phase="Running"), False, id="something else changed"),
    ],
)
def test_a_pod_that_was_made_smaller_leaves_room(world, before, after, leaves_room):
    client, moves = world
    client.create(PODS, before)
    write(client, before)
    settle(client, moves, "first")
    moves.told.clear()

    write(client, after)
    settle(client, moves, "last")

    assert ("pod gone" in moves.told) is leaves_room


def test_a_pod_that_went_leaves_room(world):
    client, moves = world
    client.create(PODS, pod())
    eventually(lambda: "pod" in moves.told)

    client.delete(PODS, "pod2", "default", options={"gracePeriodSeconds": 0})

    assert eventually(lambda: "pod gone" in moves.told)


def test_a_pod_that_went_gets_no_permission(world):
    client, moves = world
    client.create(PODS, pod())
    eventually(lambda: "pod" in moves.told)

    client.delete(PODS, "pod2", "default", options={"gracePeriodSeconds": 0})

    assert eventually(lambda: ("default/pod2", "removed") in moves.told)


def test_nor_does_one_that_is_being_deleted(world):
    client, moves = world
    client.create(PODS, {**pod(), "metadata": {**pod()["metadata"], "finalizers": ["example.com/keep"]}})
    eventually(lambda: "pod" in moves.told)
    assert ("default/pod2", "removed") not in moves.told

    client.delete(PODS, "pod2", "default", options={"gracePeriodSeconds": 0})

    assert client.get(PODS, "pod2", "default")["metadata"]["deletionTimestamp"]
    assert eventually(lambda: ("default/pod2", "removed") in moves.told)


def test_a_node_that_went_may_have_been_the_emptiest_domain(world):
    """Source of the case: ``podtopologyspread/plugin_test.go``, deleting a node that matches the constraints."""
    client, moves = world
    client.create(NODES, {"metadata": {"name": "fake"}, "status": {"allocatable": {"cpu": "1"}}})
    eventually(lambda: "node" in moves.told)

    client.delete(NODES, "fake")

    assert eventually(lambda: "node gone" in moves.told)
