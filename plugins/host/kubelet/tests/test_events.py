"""The kubelet's event recorder: what its events are about."""

import pytest
from hyperkube_host.kubelet.events import COMPONENT, KubeletEventRecorder

from hyperkube.client.events import EventRecorder
from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import EVENTS
from hyperkube.machinery.clock import FakeClock

POD = {
    "metadata": {"name": "web", "namespace": "d", "uid": "u1"},
    "spec": {
        "containers": [{"name": "main"}],
        "initContainers": [{"name": "first"}],
        "ephemeralContainers": [{"name": "debug"}],
    },
}


@pytest.fixture
def client():
    return FakeClient()


@pytest.fixture
def recorder(client):
    return KubeletEventRecorder(EventRecorder(client, FakeClock(), COMPONENT, "n1"), "n1")


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("main", "spec.containers{main}"),
        ("first", "spec.initContainers{first}"),
        ("debug", "spec.ephemeralContainers{debug}"),
    ],
)
def test_an_event_of_a_container_says_where_that_stands_in_the_pod(client, recorder, name, path):
    recorder.container_event(POD, {"name": name}, "Normal", "Started", "Container started")
    recorder.flush()

    (event,) = client.objects(EVENTS)
    assert event["involvedObject"] == {
        "apiVersion": "v1", "kind": "Pod", "name": "web", "namespace": "d", "uid": "u1", "fieldPath": path,
    }  # fmt: skip


def test_an_event_of_the_node_is_about_its_name(client, recorder):
    recorder.node_event("Normal", "Starting", "Starting kubelet.")
    recorder.flush()

    (event,) = client.objects(EVENTS)
    assert event["involvedObject"] == {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "n1"}
    assert event["source"] == {"component": "kubelet", "host": "n1"}


def test_without_a_recorder_nothing_happens():
    events = KubeletEventRecorder(None, "n1")

    events.pod_event(POD, "Normal", "Told", "of it")
    events.node_event("Normal", "Told", "of it")
    events.flush()
