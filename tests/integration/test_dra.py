"""Dynamic Resource Allocation through the real API server, with every process that has a part in it and RBAC on.

A pod by a claim template, one by an extended resource that stands for a device class, partitions of one device that
share its memory, a device that tells when it is ready, one whose capacity several claims share, and one that breaks.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy")
sys.path.insert(0, str(Path(__file__).parent))

from hyperkube_testing.cluster.cluster import ControlPlane
from scheduling_world import (
    NO_ACCOUNTS,
    add_node,
    add_pods,
    get,
    node_of,
    pod,
    remove,
    settled,
    wait_bound,
    wait_message,
)

from hyperkube.kinds.resources import DEVICE_CLASSES, RESOURCE_CLAIMS, RESOURCE_SLICES
from hyperkube.machinery.groups import GroupVersionResource

TEMPLATES = GroupVersionResource("resource.k8s.io", "v1", "resourceclaimtemplates")
GPU = "example.com/gpu"
FULL = "cannot allocate all claims"
SECONDS = 60.0


@pytest.fixture(scope="module")
def cluster():
    manager = {"controllers": ["resourceclaim", "garbagecollector", "device-taint-eviction"]}
    with ControlPlane(controller_manager=manager, apiserver={**NO_ACCOUNTS, "authorization-mode": ["RBAC"]}) as running:
        for name in ("plain", "rich"):
            add_node(running, name)
        settled(running, 2)
        yield running


def add_class(cluster, driver, **spec):
    selectors = [{"cel": {"expression": f"device.driver == '{driver}.example.com'"}}]
    cluster.client.create(DEVICE_CLASSES, {"metadata": {"name": driver}, "spec": {"selectors": selectors, **spec}})


def add_slice(cluster, driver, count=1, part="", **spec):
    pool = {"name": "rich", "generation": 1, "resourceSliceCount": count}
    body = {"driver": f"{driver}.example.com", "nodeName": "rich", "pool": pool, **spec}
    cluster.client.create(RESOURCE_SLICES, {"metadata": {"name": f"rich-{driver}{part}"}, "spec": body})


def add_template(cluster, driver, **exactly):
    request = {"name": "r", "exactly": {"deviceClassName": driver, **exactly}}
    spec = {"spec": {"devices": {"requests": [request]}}}
    cluster.client.create(TEMPLATES, {"metadata": {"name": driver, "namespace": "default"}, "spec": spec})


def user(name, driver):
    return pod(name, resourceClaims=[{"name": "r", "resourceClaimTemplateName": driver}])


def claim_of(cluster, name):
    """Return the claim that was made for a pod."""
    status = get(cluster, name)["status"]
    rows = [*(status.get("resourceClaimStatuses") or ()), status.get("extendedResourceClaimStatus") or {}]
    return cluster.client.get(RESOURCE_CLAIMS, rows[0]["resourceClaimName"], "default")


def results_of(cluster, name):
    """Return which devices a pod has."""
    allocation = (claim_of(cluster, name).get("status") or {}).get("allocation") or {"devices": {}}
    return allocation["devices"].get("results")


def told(cluster, name):
    """Tell whether a pod's status names its claim."""
    return bool(get(cluster, name)["status"].get("resourceClaimStatuses"))


def test_a_pod_by_template_is_bound_with_its_allocation(cluster):
    add_class(cluster, "one")
    add_slice(cluster, "one", devices=[{"name": "d0"}])
    add_template(cluster, "one")
    add_pods(cluster, user("first", "one"))

    nodes = wait_bound(cluster, "first")
    claim = claim_of(cluster, "first")

    (row,) = claim["status"]["allocation"]["devices"]["results"]
    assert nodes == ["rich"]
    assert row == {"request": "r", "driver": "one.example.com", "pool": "rich", "device": "d0"}
    assert [user["name"] for user in claim["status"]["reservedFor"]] == ["first"]
    assert claim["status"]["allocation"]["allocationTimestamp"]


def test_a_pod_that_asks_for_an_extended_resource_gets_a_claim_of_its_own(cluster):
    add_class(cluster, "gpu", extendedResourceName=GPU)
    add_slice(cluster, "gpu", devices=[{"name": "g0"}, {"name": "g1"}])
    for name, count in (("training", "2"), ("serving", "1")):
        asked = pod(name)
        resources = asked["spec"]["containers"][0]["resources"]
        resources["requests"][GPU] = count
        resources["limits"] = {GPU: count}
        add_pods(cluster, asked)
        if name == "training":
            nodes = wait_bound(cluster, name)
    devices = [row["device"] for row in results_of(cluster, "training")]
    status = get(cluster, "training")["status"]["extendedResourceClaimStatus"]
    said = wait_message(cluster, "serving", FULL)
    remove(cluster, "training")

    assert nodes == ["rich"]
    assert devices == ["g0", "g1"]
    assert [row["resourceName"] for row in status["requestMappings"]] == [GPU]
    assert said.startswith("0/2 nodes are available")
    assert wait_bound(cluster, "serving") == ["rich"]


def test_partitions_of_a_device_share_its_memory(cluster):
    add_class(cluster, "parts")
    whole = {"name": "memory", "counters": {"memory": {"value": "8Gi"}}}
    taken = [{"counterSet": "memory", "counters": {"memory": {"value": "4Gi"}}}]
    add_slice(cluster, "parts", 2, "-counters", sharedCounters=[whole])
    add_slice(cluster, "parts", 2, devices=[{"name": f"p{n}", "consumesCounters": taken} for n in range(3)])
    add_template(cluster, "parts")
    names = [f"part-{n}" for n in range(3)]
    for name in names:
        add_pods(cluster, user(name, "parts"))

    cluster.wait(
        lambda: sum(bool(node_of(cluster, name)) for name in names) == 2, "two of three pods are bound", SECONDS
    )
    (left,) = [name for name in names if not node_of(cluster, name)]
    wait_message(cluster, left, FULL)
    remove(cluster, next(name for name in names if name != left))

    assert wait_bound(cluster, left) == ["rich"]


def test_a_pod_waits_until_its_device_is_ready(cluster):
    add_class(cluster, "slow")
    device = {"name": "s0", "bindsToNode": True, "bindingConditions": ["Ready"], "bindingFailureConditions": ["Burnt"]}
    add_slice(cluster, "slow", devices=[device])
    add_template(cluster, "slow")
    add_pods(cluster, user("patient", "slow"))
    cluster.wait(lambda: told(cluster, "patient") and results_of(cluster, "patient"), "an allocation", SECONDS)
    before = node_of(cluster, "patient")
    claim = claim_of(cluster, "patient")
    condition = {"type": "Ready", "status": "True", "reason": "Warm", "message": ""}
    condition["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    said = {"driver": "slow.example.com", "pool": "rich", "device": "s0", "conditions": [condition]}
    cluster.client.patch(
        RESOURCE_CLAIMS, claim["metadata"]["name"], {"status": {"devices": [said]}}, "default", subresource="status"
    )

    assert before is None
    assert wait_bound(cluster, "patient") == ["rich"]


def test_claims_share_the_capacity_of_a_device(cluster):
    add_class(cluster, "shared")
    device = {"name": "wire", "allowMultipleAllocations": True, "capacity": {"bandwidth": {"value": "10"}}}
    add_slice(cluster, "shared", devices=[device])
    add_template(cluster, "shared", capacity={"requests": {"bandwidth": "4"}})
    names = [f"sharer-{n}" for n in range(3)]
    for name in names:
        add_pods(cluster, user(name, "shared"))

    cluster.wait(
        lambda: sum(bool(node_of(cluster, name)) for name in names) == 2, "two of three pods are bound", SECONDS
    )
    (left,) = [name for name in names if not node_of(cluster, name)]
    wait_message(cluster, left, FULL)
    rows = [row for name in names if name != left for row in results_of(cluster, name)]

    assert [row["consumedCapacity"] for row in rows] == [{"bandwidth": "4"}] * 2
    assert len({row["shareID"] for row in rows}) == 2


def test_a_pod_leaves_a_device_that_breaks(cluster):
    add_class(cluster, "fragile")
    add_slice(cluster, "fragile", devices=[{"name": "f0"}])
    add_template(cluster, "fragile")
    add_pods(cluster, user("victim", "fragile"))
    wait_bound(cluster, "victim")
    broken = {"spec": {"devices": [{"name": "f0", "taints": [{"key": "broken", "effect": "NoExecute"}]}]}}
    cluster.client.patch(RESOURCE_SLICES, "rich-fragile", broken)

    cluster.wait(lambda: get(cluster, "victim")["metadata"].get("deletionTimestamp"), "the pod to be deleted", SECONDS)
    conditions = {row["type"]: row.get("reason") for row in get(cluster, "victim")["status"]["conditions"]}
    (device,) = cluster.client.get(RESOURCE_SLICES, "rich-fragile")["spec"]["devices"]

    assert conditions["DisruptionTarget"] == "DeletionByDeviceTaintManager"
    assert device["taints"][0]["timeAdded"]
