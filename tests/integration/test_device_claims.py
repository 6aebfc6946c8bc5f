"""Claims by template through the real API server: the controller makes them, the scheduler allocates them, RBAC is on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy")
sys.path.insert(0, str(Path(__file__).parent))

from hyperkube_testing.cluster.cluster import ControlPlane
from scheduling_world import NO_ACCOUNTS, add_node, add_pods, get, pod, remove, settled, wait_bound, wait_message

from hyperkube.kinds.resources import DEVICE_CLASSES, PODS, RESOURCE_CLAIMS, RESOURCE_SLICES
from hyperkube.machinery.groups import GroupVersionResource

TEMPLATES = GroupVersionResource("resource.k8s.io", "v1", "resourceclaimtemplates")
DRIVER = "gpu.example.com"
SECONDS = 60.0


@pytest.fixture(scope="module")
def cluster():
    manager = {"controllers": ["resourceclaim", "garbagecollector"]}
    apiserver = {**NO_ACCOUNTS, "authorization-mode": ["RBAC"]}
    with ControlPlane(controller_manager=manager, apiserver=apiserver) as running:
        selectors = [{"cel": {"expression": f"device.driver == '{DRIVER}'"}}]
        running.client.create(DEVICE_CLASSES, {"metadata": {"name": "gpu"}, "spec": {"selectors": selectors}})
        add_node(running, "rich")
        pool = {"name": "rich", "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": DRIVER, "nodeName": "rich", "pool": pool, "devices": [{"name": "gpu-0"}]}
        running.client.create(RESOURCE_SLICES, {"metadata": {"name": "rich-gpu"}, "spec": spec})
        request = {"name": "gpu", "exactly": {"deviceClassName": "gpu"}}
        template = {"metadata": {"labels": {"made": "by-template"}}, "spec": {"devices": {"requests": [request]}}}
        running.client.create(TEMPLATES, {"metadata": {"name": "one", "namespace": "default"}, "spec": template})
        running.client.create(
            RESOURCE_CLAIMS, {"metadata": {"name": "shared", "namespace": "default"}, "spec": template["spec"]}
        )
        settled(running, 1)
        yield running


def by_template(name, template="one"):
    return pod(name, resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": template}])


def claims(cluster):
    return {one["metadata"]["name"]: one for one in cluster.client.list(RESOURCE_CLAIMS, "default").items}


def generated(cluster, name):
    statuses = get(cluster, name)["status"].get("resourceClaimStatuses") or [{}]
    return statuses[0].get("resourceClaimName")


def test_a_pod_gets_a_device_by_template_and_the_next_gets_it_after(cluster):
    add_pods(cluster, by_template("first"))
    bound = wait_bound(cluster, "first")
    name = generated(cluster, "first")
    made = claims(cluster)[name]

    add_pods(cluster, by_template("second"))
    wait_message(cluster, "second", "cannot allocate all claims")
    remove(cluster, "first")

    assert bound == ["rich"]
    assert made["metadata"]["labels"] == {"made": "by-template"}
    assert made["metadata"]["ownerReferences"][0]["name"] == "first"
    assert [user["name"] for user in made["status"]["reservedFor"]] == ["first"]
    assert wait_bound(cluster, "second") == ["rich"]
    cluster.wait(lambda: name not in claims(cluster), "the claim of the first pod to go", SECONDS)
    remove(cluster, "second")


def test_the_claim_of_a_pod_that_ended_goes_before_the_pod_does(cluster):
    add_pods(cluster, by_template("ends"))
    wait_bound(cluster, "ends")
    name = generated(cluster, "ends")

    cluster.client.patch(PODS, "ends", {"status": {"phase": "Succeeded"}}, "default", subresource="status")

    cluster.wait(lambda: name not in claims(cluster), "the claim of the ended pod to go", SECONDS)
    assert get(cluster, "ends")["status"]["phase"] == "Succeeded"
    remove(cluster, "ends")


def test_a_shared_claim_is_deallocated_with_its_last_user(cluster):
    add_pods(cluster, pod("user", resourceClaims=[{"name": "gpu", "resourceClaimName": "shared"}]))
    wait_bound(cluster, "user")
    allocated = claims(cluster)["shared"]

    remove(cluster, "user")

    def freed():
        shared = claims(cluster)["shared"]
        return "allocation" not in (shared.get("status") or {}) and not shared["metadata"].get("finalizers")

    assert "allocation" in allocated["status"]
    cluster.wait(freed, "the claim to be given back", SECONDS)
