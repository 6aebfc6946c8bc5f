"""Volumes through the real API server: a claim waits for its first user, and the user for its volume."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy")
sys.path.insert(0, str(Path(__file__).parent))

from hyperkube_testing.cluster.cluster import ControlPlane
from scheduling_world import (
    NO_ACCOUNTS,
    SECONDS,
    add_node,
    add_pods,
    add_priorities,
    get,
    pod,
    remove,
    wait_bound,
    wait_message,
)

from hyperkube.kinds.resources import (
    CSI_DRIVERS,
    CSI_STORAGE_CAPACITIES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
)

LATE = "WaitForFirstConsumer"
SELECTED_NODE = "volume.kubernetes.io/selected-node"


@pytest.fixture
def cluster(tmp_path):
    binder = {"controllers": ["persistentvolume-binder"], "local-path-dir": str(tmp_path)}
    with ControlPlane(controller_manager=binder, apiserver=NO_ACCOUNTS) as running:
        yield running


def add_class(cluster, name, provisioner, mode=LATE):
    made = {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode}
    cluster.client.create(STORAGE_CLASSES, made)


def add_claim(cluster, name, storage_class, size="1Gi", mode="ReadWriteOnce"):
    resources = {"requests": {"storage": size}}
    spec = {"storageClassName": storage_class, "accessModes": [mode], "resources": resources}
    cluster.client.create(PERSISTENT_VOLUME_CLAIMS, {"metadata": {"name": name, "namespace": "default"}, "spec": spec})


def claim_of(cluster, name):
    return cluster.client.get(PERSISTENT_VOLUME_CLAIMS, name, "default")


def add_local_volume(cluster, name, node, size="1Gi", **labels):
    expression = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
    spec = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "local",
        "local": {"path": "/mnt/disk"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}},
    }
    cluster.client.create(PERSISTENT_VOLUMES, {"metadata": {"name": name, "labels": labels}, "spec": spec})


def user(name, claim, **spec):
    return pod(name, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": claim}}], **spec)


def test_a_volume_is_made_on_the_node_that_was_chosen_for_the_first_user(cluster, tmp_path):
    add_node(cluster, "small", cpu="1")
    add_node(cluster, "large", cpu="8")
    add_class(cluster, "folders", "hyperkube.dev/local-path")
    add_claim(cluster, "data", "folders")
    cluster.wait(lambda: claim_of(cluster, "data").get("status", {}).get("phase") == "Pending", "the claim", SECONDS)

    add_pods(cluster, user("first", "data", cpu="4"))
    nodes = wait_bound(cluster, "first")
    cluster.wait(lambda: claim_of(cluster, "data").get("status", {}).get("phase") == "Bound", "its status", SECONDS)
    claim = claim_of(cluster, "data")
    volume = cluster.client.get(PERSISTENT_VOLUMES, claim["spec"]["volumeName"])
    add_pods(cluster, user("second", "data"))

    assert nodes == ["large"]
    assert claim["metadata"]["annotations"][SELECTED_NODE] == "large"
    assert claim["status"]["phase"] == "Bound"
    assert Path(volume["spec"]["local"]["path"]).is_dir()
    assert wait_bound(cluster, "second") == ["large"]


def test_local_disks_are_given_one_to_a_pod_where_they_are(cluster):
    for name in ("a", "b", "c"):
        add_node(cluster, name)
    add_class(cluster, "local", "kubernetes.io/no-provisioner")
    for name in ("a", "b"):
        add_local_volume(cluster, f"disk-{name}", name)
    for index in range(3):
        add_claim(cluster, f"data-{index}", "local")
        add_pods(cluster, user(f"user-{index}", f"data-{index}"))

    def placed():
        nodes = {index: get(cluster, f"user-{index}")["spec"].get("nodeName") for index in range(3)}
        return nodes if sum(map(bool, nodes.values())) == 2 else None

    nodes = cluster.wait(placed, "two of three users", SECONDS)
    left = next(index for index, node in nodes.items() if not node)
    wait_message(cluster, f"user-{left}", "3 node(s) didn't find available persistent volumes to bind")
    add_local_volume(cluster, "disk-c", "c")

    assert wait_bound(cluster, f"user-{left}") == ["c"]
    assert sorted(filter(None, nodes.values())) == ["a", "b"]


def test_a_pod_waits_for_a_claim_that_is_bound_at_once(cluster):
    add_node(cluster, "a")
    add_class(cluster, "local", "kubernetes.io/no-provisioner", "Immediate")
    add_claim(cluster, "data", "local")
    add_pods(cluster, user("user", "data"))
    said = wait_message(cluster, "user", "pod has unbound immediate PersistentVolumeClaims")
    add_local_volume(cluster, "disk", "a")

    assert wait_bound(cluster, "user") == ["a"]
    assert said.startswith("0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.")


def test_a_volume_is_not_asked_for_where_the_driver_has_no_room(cluster):
    for name in ("full", "empty"):
        add_node(cluster, name)
    add_class(cluster, "csi", "csi.example.com")
    cluster.client.create(CSI_DRIVERS, {"metadata": {"name": "csi.example.com"}, "spec": {"storageCapacity": True}})
    for name, amount in (("full", "1Mi"), ("empty", "10Gi")):
        topology = {"matchLabels": {"kubernetes.io/hostname": name}}
        row = {"storageClassName": "csi", "capacity": amount, "nodeTopology": topology}
        cluster.client.create(CSI_STORAGE_CAPACITIES, {"metadata": {"name": name, "namespace": "default"}, **row})
    add_claim(cluster, "large", "csi", "20Gi")
    add_claim(cluster, "fitting", "csi", "5Gi")
    add_pods(cluster, user("hopeless", "large"), user("lucky", "fitting"))

    wait_message(cluster, "hopeless", "2 node(s) did not have enough free storage")
    chosen = cluster.wait(
        lambda: claim_of(cluster, "fitting")["metadata"].get("annotations", {}).get(SELECTED_NODE), "a node", SECONDS
    )

    assert chosen == "empty"


def test_a_claim_for_one_pod_is_taken_from_a_pod_that_matters_less(cluster):
    add_priorities(cluster, low=1, high=1000)
    for name in ("a", "b"):
        add_node(cluster, name)
    add_class(cluster, "folders", "hyperkube.dev/local-path")
    add_claim(cluster, "data", "folders", mode="ReadWriteOncePod")
    add_pods(cluster, user("holder", "data", priorityClassName="low"))
    held = wait_bound(cluster, "holder")
    add_pods(cluster, user("equal", "data", priorityClassName="low"))
    wait_message(cluster, "equal", "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode")

    add_pods(cluster, user("better", "data", priorityClassName="high"))
    cluster.wait(lambda: get(cluster, "holder")["metadata"].get("deletionTimestamp"), "the eviction", SECONDS)
    remove(cluster, "holder")

    assert wait_bound(cluster, "better") == held
