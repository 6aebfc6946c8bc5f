"""A status is written once, to the pod or its mirror."""

import pytest
from hyperkube_host.kubelet.pod.pod_entry import PodEntry
from hyperkube_host.kubelet.status.status_manager import StatusManager

from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.clock import SystemClock

RUNNING = {"phase": "Running"}


@pytest.fixture
def client():
    return FakeClient(SystemClock())


@pytest.fixture
def pod(client):
    return client.create(PODS, {"metadata": {"name": "p", "namespace": "d"}, "spec": {}})


def shown(client):
    return client.get(PODS, "p", "d").get("status")


def test_a_status_is_written_when_it_changes(client, pod):
    entry, statuses = PodEntry(pod), StatusManager(client)

    statuses.set_pod_status(entry, pod, RUNNING)
    client.fail_next("patch", "pods", AssertionError("it was written again"))
    statuses.set_pod_status(entry, pod, RUNNING)

    assert shown(client) == RUNNING


def test_a_status_that_nobody_could_be_told_yet_is_told_later(client, pod):
    entry, statuses = PodEntry({**pod, "status": {}}), StatusManager(client)

    statuses.set_pod_status(entry, None, RUNNING)
    assert shown(client) == {"phase": "Pending"}

    statuses.set_pod_status(entry, pod, RUNNING)
    assert shown(client) == RUNNING


def test_without_an_api_a_status_is_remembered(pod):
    entry = PodEntry(pod)

    StatusManager(None).set_pod_status(entry, None, RUNNING)

    assert entry.reported == RUNNING
