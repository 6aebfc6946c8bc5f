"""Devices through the real API server: claims are allocated, written and given back."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy")
sys.path.insert(0, str(Path(__file__).parent))

from hyperkube_testing.cluster.cluster import ControlPlane
from scheduling_world import NO_ACCOUNTS, add_node, add_pods, node_of, pod, remove, settled, wait_bound, wait_message

from hyperkube.kinds.resources import DEVICE_CLASSES, RESOURCE_CLAIMS, RESOURCE_SLICES

DRIVER = "gpu.example.com"


@pytest.fixture
def cluster():
    with ControlPlane(controller_manager=None, apiserver=NO_ACCOUNTS) as running:
        selectors = [{"cel": {"expression": f"device.driver == '{DRIVER}'"}}]
        running.client.create(DEVICE_CLASSES, {"metadata": {"name": "gpu"}, "spec": {"selectors": selectors}})
        for name in ("plain", "rich"):
            add_node(running, name)
        settled(running, 2)
        yield running


def add_devices(cluster, node, *memories):
    devices = [
        {"name": f"gpu-{index}", "capacity": {"memory": {"value": memory}}} for index, memory in enumerate(memories)
    ]
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": devices}
    cluster.client.create(RESOURCE_SLICES, {"metadata": {"name": f"{node}-gpu"}, "spec": spec})


def add_claim(cluster, name, expression="", **exactly):
    request = {"deviceClassName": "gpu", **exactly}
    if expression:
        request["selectors"] = [{"cel": {"expression": expression}}]
    spec = {"devices": {"requests": [{"name": "gpu", "exactly": request}]}}
    cluster.client.create(RESOURCE_CLAIMS, {"metadata": {"name": name, "namespace": "default"}, "spec": spec})


def user(name, claim):
    return pod(name, resourceClaims=[{"name": "gpu", "resourceClaimName": claim}])


def status_of(cluster, claim):
    return cluster.client.get(RESOURCE_CLAIMS, claim, "default").get("status") or {}


def test_a_pod_goes_where_its_devices_are_and_the_claim_says_which(cluster):
    add_devices(cluster, "rich", "16Gi", "80Gi")
    add_claim(cluster, "big", f"device.capacity['{DRIVER}'].memory.compareTo(quantity('40Gi')) >= 0")
    add_pods(cluster, user("one", "big"))

    nodes = wait_bound(cluster, "one")

    status = status_of(cluster, "big")
    (row,) = status["allocation"]["devices"]["results"]
    assert nodes == ["rich"]
    assert (row["driver"], row["pool"], row["device"]) == (DRIVER, "rich", "gpu-1")
    assert [user["name"] for user in status["reservedFor"]] == ["one"]
    assert (
        "resource.kubernetes.io/delete-protection"
        in cluster.client.get(RESOURCE_CLAIMS, "big", "default")["metadata"]["finalizers"]
    )


def test_a_pod_waits_for_its_claim_and_for_devices(cluster):
    add_pods(cluster, user("one", "late"), pod("free"))
    wait_bound(cluster, "free")
    without_claim = node_of(cluster, "one")
    add_claim(cluster, "late")
    said = wait_message(cluster, "one", "cannot allocate all claims")
    add_devices(cluster, "plain", "16Gi")

    assert without_claim is None
    assert said.startswith("0/2 nodes are available: 2 cannot allocate all claims.")
    assert wait_bound(cluster, "one") == ["plain"]


def test_a_device_is_had_by_one_claim_and_a_claim_by_many_pods(cluster):
    add_devices(cluster, "rich", "16Gi")
    for name in ("mine", "yours"):
        add_claim(cluster, name)
    add_pods(cluster, user("one", "mine"), user("two", "mine"))
    together = wait_bound(cluster, "one", "two")
    add_pods(cluster, user("three", "yours"))
    wait_message(cluster, "three", "cannot allocate all claims")

    for name in ("one", "two"):
        remove(cluster, name)
    release(cluster, "mine")

    assert together == ["rich", "rich"]
    assert wait_bound(cluster, "three") == ["rich"]


def release(cluster, name):
    """Do what the claim controller does after the last user went."""
    current = cluster.client.get(RESOURCE_CLAIMS, name, "default")
    change = {"metadata": {"resourceVersion": current["metadata"]["resourceVersion"]}}
    change["status"] = {"allocation": None, "reservedFor": None}
    cluster.client.patch(RESOURCE_CLAIMS, name, change, "default", subresource="status")


def test_an_allocation_that_is_not_in_use_is_given_back_where_it_is_in_the_way(cluster):
    add_devices(cluster, "rich", "16Gi")
    add_claim(cluster, "moved")
    add_pods(cluster, user("one", "moved"))
    wait_bound(cluster, "one")
    remove(cluster, "one")
    cluster.client.patch(RESOURCE_CLAIMS, "moved", {"status": {"reservedFor": None}}, "default", subresource="status")
    add_devices(cluster, "plain", "16Gi")

    add_pods(cluster, {**user("two", "moved"), "spec": {**user("two", "moved")["spec"], **ONLY_PLAIN}})

    assert wait_bound(cluster, "two") == ["plain"]
    assert status_of(cluster, "moved")["allocation"]["devices"]["results"][0]["pool"] == "plain"


ONLY_PLAIN = {"nodeSelector": {"kubernetes.io/hostname": "plain"}}
