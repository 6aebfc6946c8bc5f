"""The resourcequota controller: what is used, and what is given back."""

import json

from hyperkube_controller.resourcequota import Resourcequota

from hyperkube.client.client import RawResponse
from hyperkube.kinds.resources import CONFIG_MAPS, DEPLOYMENTS, PERSISTENT_VOLUME_CLAIMS, PODS, RESOURCE_QUOTAS
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig


def quota(**hard):
    spec = {"hard": {key.replace("__", "."): value for key, value in hard.items()}}
    return {"kind": "ResourceQuota", "apiVersion": "v1", "metadata": {"name": "q", "namespace": "d"}, "spec": spec}


def pod(name, cpu="500m", namespace="d"):
    resources = {"requests": {"cpu": cpu}}
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": [{"name": "c", "resources": resources}]},
        "status": {"phase": "Running"},
    }


def used(rig):
    rig.settle()
    rig.advance(1)
    return rig.client.get(RESOURCE_QUOTAS, "q", "d")["status"]["used"]


class TestContract(ControllerContract):
    plugin = Resourcequota

    def populate(self, rig):
        rig.client.seed(RESOURCE_QUOTAS, quota(pods="5"))


def test_a_new_quota_learns_what_is_used():
    rig = ControllerRig(Resourcequota)
    rig.client.seed(PODS, pod("a"), pod("b", "1"), pod("far", namespace="other"))
    rig.client.seed(CONFIG_MAPS, {"kind": "ConfigMap", "metadata": {"name": "c", "namespace": "d"}})
    rig.client.seed(RESOURCE_QUOTAS, quota(pods="5", requests__cpu="4", configmaps="3", secrets="1"))

    assert used(rig) == {"pods": "2", "requests.cpu": "1500m", "configmaps": "1", "secrets": "0"}
    assert rig.client.get(RESOURCE_QUOTAS, "q", "d")["status"]["hard"]["pods"] == "5"


def test_a_deleted_or_ended_pod_gives_back():
    rig = ControllerRig(Resourcequota)
    rig.client.seed(PODS, pod("a"), pod("b"), pod("c"))
    rig.client.seed(RESOURCE_QUOTAS, quota(pods="5"))
    assert used(rig) == {"pods": "3"}

    rig.client.delete(PODS, "a", "d")
    rig.client.patch(PODS, "b", {"status": {"phase": "Succeeded"}}, "d", subresource="status")

    assert used(rig) == {"pods": "1"}


def test_any_resource_can_be_counted():
    rig = ControllerRig(Resourcequota)
    verbs = ["list", "watch"]
    for path, document in {
        "/api": {"kind": "APIVersions", "versions": []},
        "/apis": {"groups": [{"name": "apps", "versions": [{"groupVersion": "apps/v1"}]}]},
        "/apis/apps/v1": {
            "resources": [{"name": "deployments", "kind": "Deployment", "namespaced": True, "verbs": verbs}]
        },
    }.items():
        rig.client.answer("GET", path, lambda _body, d=document: RawResponse(200, {}, json.dumps(d).encode()))
    rig.client.seed(DEPLOYMENTS, {"kind": "Deployment", "metadata": {"name": "x", "namespace": "d"}})
    rig.client.seed(RESOURCE_QUOTAS, quota(**{"count/deployments__apps": "3"}))

    assert used(rig) == {"count/deployments.apps": "1"}


def claim(current):
    spec = {"volumeAttributesClassName": current, "resources": {"requests": {"storage": "1Gi"}}}
    status = {"currentVolumeAttributesClassName": current}
    meta = {"name": "c", "namespace": "d"}
    return {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": meta, "spec": spec, "status": status}


def test_a_claim_that_leaves_the_scope_gives_back_at_once():
    rig = ControllerRig(Resourcequota)
    scoped = quota(persistentvolumeclaims="5")
    expression = {"scopeName": "VolumeAttributesClass", "operator": "In", "values": ["gold"]}
    scoped["spec"]["scopeSelector"] = {"matchExpressions": [expression]}
    rig.client.seed(RESOURCE_QUOTAS, scoped)
    rig.client.seed(PERSISTENT_VOLUME_CLAIMS, claim("gold"))
    assert used(rig) == {"persistentvolumeclaims": "1"}

    rig.client.patch(PERSISTENT_VOLUME_CLAIMS, "c", {"spec": {"volumeAttributesClassName": "silver"}}, "d")
    left = {"status": {"currentVolumeAttributesClassName": "silver"}}
    rig.client.patch(PERSISTENT_VOLUME_CLAIMS, "c", left, "d", subresource="status")

    assert used(rig) == {"persistentvolumeclaims": "0"}


def test_a_pod_that_gets_a_deadline_changes_its_scope():
    rig = ControllerRig(Resourcequota)
    scoped = quota(pods="5")
    scoped["spec"]["scopes"] = ["NotTerminating"]
    rig.client.seed(RESOURCE_QUOTAS, scoped)
    rig.client.seed(PODS, pod("a"))
    assert used(rig) == {"pods": "1"}

    rig.client.patch(PODS, "a", {"spec": {"activeDeadlineSeconds": 5}}, "d")

    assert used(rig) == {"pods": "0"}


def test_a_count_that_missed_a_new_object_is_mended_soon():
    rig = ControllerRig(Resourcequota)
    rig.client.seed(PODS, pod("a"))
    rig.client.seed(RESOURCE_QUOTAS, quota(pods="5"))
    assert used(rig) == {"pods": "1"}

    rig.client.seed(PODS, pod("charged"))
    rig.advance(6)

    assert used(rig) == {"pods": "2"}
