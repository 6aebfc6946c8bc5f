"""The storage-version-gc controller: entries of API servers that are gone go, and the common version is right."""

import pytest
from hyperkube_controller.storage_version_gc import STORAGE_VERSIONS, StorageVersionGc

from hyperkube.kinds.resources import LEASES
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig


def lease(name, component="kube-apiserver"):
    labels = {"apiserver.kubernetes.io/identity": component} if component else {}
    return {"kind": "Lease", "metadata": {"name": name, "namespace": "kube-system", "labels": labels}}


def storage_version(**servers):
    rows = [
        {"apiServerID": name.replace("_", "-"), "encodingVersion": version, "decodableVersions": [version]}
        for name, version in servers.items()
    ]
    return {
        "kind": "StorageVersion",
        "metadata": {"name": "apps.deployments"},
        "spec": {},
        "status": {"storageVersions": rows},
    }


def run(version, *leases):
    rig = ControllerRig(StorageVersionGc)
    rig.client.seed(LEASES, *leases)
    rig.client.seed(STORAGE_VERSIONS, version)
    rig.settle()
    return rig


def ids(rig):
    return [
        [row["apiServerID"] for row in each["status"]["storageVersions"]]
        for each in rig.client.objects(STORAGE_VERSIONS)
    ]


class TestContract(ControllerContract):
    plugin = StorageVersionGc

    def populate(self, rig):
        rig.client.seed(STORAGE_VERSIONS, storage_version(gone="v1"))


@pytest.mark.parametrize(
    ("leases", "left"),
    [
        ([lease("a"), lease("b")], [["a", "b"]]),
        ([lease("a")], [["a"]]),
        ([lease("a"), lease("b", "kube-scheduler")], [["a"]]),
        ([lease("a"), lease("b", "")], [["a"]]),
        ([], []),
    ],
    ids=["both", "one-gone", "other-component", "no-label", "none"],
)
def test_entries_without_an_identity_lease_go(leases, left):
    assert ids(run(storage_version(a="v1", b="v2"), *leases)) == left


def test_entries_go_with_the_lease():
    rig = run(storage_version(a="v1", b="v2"), lease("a"), lease("b"))

    rig.client.delete(LEASES, "b", "kube-system")
    rig.settle()

    (found,) = rig.client.objects(STORAGE_VERSIONS)
    assert ids(rig) == [["a"]]
    assert found["status"]["commonEncodingVersion"] == "v1"
    (condition,) = found["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("AllEncodingVersionsEqual", "True")
    assert (condition["reason"], condition["message"]) == ("CommonEncodingVersionSet", "Common encoding version set")


def test_servers_that_do_not_agree_have_no_common_version():
    (found,) = run(storage_version(a="v1", b="v2", c="v1"), lease("a"), lease("b")).client.objects(STORAGE_VERSIONS)

    (condition,) = found["status"]["conditions"]
    assert "commonEncodingVersion" not in found["status"]
    assert (condition["status"], condition["reason"]) == ("False", "CommonEncodingVersionUnset")
    assert condition["message"] == "Common encoding version unset"


def test_what_the_remaining_servers_agree_on_becomes_common():
    """Source: kubernetes ``pkg/controller/storageversiongc/gc_controller_test.go``."""
    version = storage_version(a="v1", b="v2", c="v2")
    version["status"]["commonEncodingVersion"] = "v1"
    rig = run(version, lease("a"), lease("b"), lease("c"))

    rig.client.delete(LEASES, "a", "kube-system")
    rig.settle()

    (found,) = rig.client.objects(STORAGE_VERSIONS)
    assert ids(rig) == [["b", "c"]]
    assert found["status"]["commonEncodingVersion"] == "v2"
    assert [(each["type"], each["status"]) for each in found["status"]["conditions"]] == [
        ("AllEncodingVersionsEqual", "True")
    ]


def test_a_lease_that_no_entry_names_changes_nothing():
    version = storage_version(a="v1", c="v2")
    version["status"]["commonEncodingVersion"] = "v1"
    rig = run(version, lease("a"), lease("b"), lease("c"))

    rig.client.delete(LEASES, "b", "kube-system")
    rig.settle()

    (found,) = rig.client.objects(STORAGE_VERSIONS)
    assert ids(rig) == [["a", "c"]]
    assert found["status"]["commonEncodingVersion"] == "v1"


def test_the_last_server_takes_the_object_along():
    rig = run(storage_version(a="v1"), lease("a"))

    rig.client.delete(LEASES, "a", "kube-system")
    rig.settle()

    assert rig.client.objects(STORAGE_VERSIONS) == []
