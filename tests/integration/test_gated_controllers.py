"""Controllers behind feature gates, in a control plane whose API server serves what they look after."""

import pytest
from hyperkube_lib.serving.certificates import make_ca
from hyperkube_testing.cluster.cluster import ControlPlane

from hyperkube.kinds.resources import CUSTOM_RESOURCE_DEFINITIONS, DEVICE_TAINT_RULES
from hyperkube.machinery.errors import Conflict, NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.testing.waiting import eventually

GATES = {
    "StorageVersionMigrator": True,
    "ClusterTrustBundle": True,
    "PodCertificateRequest": True,
    "StorageVersionAPI": True,
    "DRADeviceTaintRules": True,
}
SERVED = {
    "feature-gates": GATES,
    "runtime-config": {
        "storagemigration.k8s.io/v1beta1": "true",
        "certificates.k8s.io/v1beta1": "true",
        "certificates.k8s.io/v1alpha1": "true",
        "internal.apiserver.k8s.io/v1alpha1": "true",
        "resource.k8s.io/v1beta2": "true",
        "resource.k8s.io/v1alpha3": "true",
    },
}
MIGRATIONS = GroupVersionResource("storagemigration.k8s.io", "v1beta1", "storageversionmigrations")
STORAGE_VERSIONS = GroupVersionResource("internal.apiserver.k8s.io", "v1alpha1", "storageversions")
CERTIFICATE = make_ca("worn").certificate.decode()
WIDGETS = GroupVersionResource("example.com", "v2", "widgets")


@pytest.fixture(scope="module")
def cluster():
    with ControlPlane(controller_manager={"feature-gates": GATES}, apiserver=SERVED, scheduler=None) as running:
        yield running


def definition():
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{"name": name, "served": True, "storage": name == "v1", "schema": schema} for name in ("v1", "v2")]
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": versions}
    return {"metadata": {"name": "widgets.example.com"}, "spec": spec}


def test_a_migration_ends_in_success_and_the_definition_forgets_the_old_version(cluster):
    client = cluster.client
    client.create(CUSTOM_RESOURCE_DEFINITIONS, definition())
    eventually(lambda: _is_established(client))
    eventually(lambda: _is_served(client))  # as in Kubernetes, the server sees the condition a moment after it is set
    client.create(WIDGETS, {"apiVersion": "example.com/v2", "kind": "Widget", "metadata": {"name": "w"}}, "default")
    eventually(lambda: _is_stored_as(client, "v2"))

    spec = {"resource": {"group": "example.com", "resource": "widgets"}}
    client.create(MIGRATIONS, {"metadata": {"name": "m"}, "spec": spec})

    eventually(lambda: _holds(client.get(MIGRATIONS, "m")) == {"Running": "False", "Succeeded": "True"})
    after = client.get(CUSTOM_RESOURCE_DEFINITIONS, "widgets.example.com")
    assert after["status"]["storedVersions"] == ["v2"]
    stored = cluster._store.get("/registry/example.com/widgets/default/w")
    assert b'"apiVersion":"example.com/v2"' in stored.value
    (told,) = [each for each in after["status"]["conditions"] if each["type"] == "StorageMigrating"]
    assert (told["status"], told["reason"]) == ("False", "MigrationSucceeded")


def _is_stored_as(client, name):
    found = client.get(CUSTOM_RESOURCE_DEFINITIONS, "widgets.example.com")
    for version in found["spec"]["versions"]:
        version["storage"] = version["name"] == name
    try:
        return client.update(CUSTOM_RESOURCE_DEFINITIONS, found)
    except Conflict:  # a controller wrote its status meanwhile
        return None


def _is_established(client):
    return _holds(client.get(CUSTOM_RESOURCE_DEFINITIONS, "widgets.example.com")).get("Established") == "True"


def _is_served(client):
    try:
        return client.list(WIDGETS, "default").items == []
    except NotFound:
        return False


def _holds(obj):
    return {each["type"]: each["status"] for each in (obj.get("status") or {}).get("conditions") or []}


def test_storage_versions_of_servers_that_are_gone_go(cluster):
    client = cluster.client
    client.create(STORAGE_VERSIONS, {"metadata": {"name": "apps.deployments"}, "spec": {}})
    row = {"apiServerID": "apiserver-gone", "encodingVersion": "v1", "decodableVersions": ["v1"]}
    status = {"storageVersions": [row], "commonEncodingVersion": "v1"}

    client.patch(STORAGE_VERSIONS, "apps.deployments", {"status": status}, subresource="status")

    eventually(lambda: not client.list(STORAGE_VERSIONS).items)


def test_a_rule_that_taints_devices_says_what_it_would_do(cluster):
    taint = {"key": "example.com/hot", "effect": "None"}
    rule = {"metadata": {"name": "hot"}, "spec": {"deviceSelector": {"driver": "gpu.example.com"}, "taint": taint}}
    cluster.client.create(DEVICE_TAINT_RULES, rule)

    eventually(lambda: _holds(cluster.client.get(DEVICE_TAINT_RULES, "hot")) == {"EvictionInProgress": "False"})
    found = cluster.client.get(DEVICE_TAINT_RULES, "hot")
    (row,) = found["status"]["conditions"]
    assert (row["reason"], row["observedGeneration"]) == ("NoEffect", found["metadata"]["generation"])
    assert row["message"].startswith("0 published devices selected. 0 allocated devices selected. 0 pods would be ")
    assert found["spec"]["taint"]["timeAdded"]


BUNDLES = GroupVersionResource("certificates.k8s.io", "v1beta1", "clustertrustbundles")
TWO_VERSIONS = [
    pytest.param(
        DEVICE_TAINT_RULES, "v1alpha3", {"taint": {"key": "example.com/worn", "effect": "NoSchedule"}}, "v1alpha3",
        "/registry/devicetaintrules/worn", id="devicetaintrules",
    ),
    pytest.param(
        BUNDLES, "v1alpha1", {"trustBundle": CERTIFICATE}, "v1beta1",
        "/registry/clustertrustbundles/worn", id="clustertrustbundles",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("newer", "older", "spec", "stored", "key"), TWO_VERSIONS)
def test_what_is_served_in_two_versions_is_stored_in_one(cluster, newer, older, spec, stored, key):
    made = cluster.client.create(newer._replace(version=older), {"metadata": {"name": "worn"}, "spec": spec})

    assert made["apiVersion"] == f"{newer.group}/{older}"
    found = cluster.client.get(newer, "worn")
    assert (found["apiVersion"], found["spec"]) == (f"{newer.group}/{newer.version}", made["spec"])
    assert f'"apiVersion":"{newer.group}/{stored}"'.encode() in cluster._store.get(key).value
