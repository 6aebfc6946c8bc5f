"""A status is written once, to the pod or its mirror."""

import pytest
from hyperkube_host.kubelet.pod.pod_entry import PodEntry
from hyperkube_host.kubelet.status.status_manager import StatusManager, status_changes

from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import Conflict

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


def test_only_what_changed_is_written_and_what_is_gone_is_removed():
    known = {"phase": "Running", "podIP": "1.2.3.4", "nominatedNodeName": "n", "startTime": "t"}

    assert status_changes(known, {"phase": "Failed", "reason": "Evicted", "startTime": "t"}) == {
        "phase": "Failed", "reason": "Evicted", "podIP": None,
    }  # fmt: skip


def test_a_condition_that_another_component_adds_meanwhile_is_not_lost(client, pod):
    gate = {"type": "example.com/gate", "status": "True"}
    entry, statuses = PodEntry(pod), StatusManager(client)
    client.patch(PODS, "p", {"status": {"conditions": [gate]}}, "d", subresource="status")

    with pytest.raises(Conflict):
        statuses.set_pod_status(entry, pod, {"phase": "Running", "conditions": [{"type": "Ready"}]})

    assert shown(client)["conditions"] == [gate]


def test_a_write_of_its_own_is_no_conflict(client, pod):
    entry, statuses = PodEntry(pod), StatusManager(client)

    statuses.set_pod_status(entry, pod, RUNNING)
    statuses.set_pod_status(entry, pod, {"phase": "Failed"})

    assert shown(client)["phase"] == "Failed"


READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def test_what_another_component_wrote_of_the_kubelets_own_is_written_again(client, pod):
    entry, statuses = PodEntry(pod), StatusManager(client)
    statuses.set_pod_status(entry, pod, READY)
    marked = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}
    entry.pod = client.patch(PODS, "p", marked, "d", subresource="status")

    statuses.set_pod_status(entry, entry.pod, READY)

    assert shown(client)["conditions"] == READY["conditions"]


def test_an_old_view_of_the_pod_is_no_reason_to_write_again(client, pod):
    entry, statuses = PodEntry(pod), StatusManager(client)
    statuses.set_pod_status(entry, pod, READY)
    client.fail_next("patch", "pods", AssertionError("it was written again"))

    statuses.set_pod_status(entry, pod, READY)
