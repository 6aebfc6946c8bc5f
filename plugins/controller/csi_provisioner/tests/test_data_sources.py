"""Volumes that are filled: clones, snapshots, and what populators fill."""

import pytest
from hyperkube_controller.csi_provisioner.data_source import SNAPSHOT_CONTENTS, SNAPSHOTS
from hyperkube_lib.csi.memory_driver import MemoryDriver
from provisioner_world import DRIVER, World, claim

from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES

CLONE = {"kind": "PersistentVolumeClaim", "name": "old"}
SNAPSHOT = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "s"}
HOLD = "provisioner.storage.kubernetes.io/cloning-protection"


def with_original(world, size="1Gi", mode="Filesystem", phase="Bound"):
    world.client.seed(PERSISTENT_VOLUME_CLAIMS, claim("old", size=size, phase=phase, volumeName="pv"))
    spec = {"csi": {"driver": DRIVER, "volumeHandle": "h"}, "claimRef": {"uid": "u-old"}, "volumeMode": mode}
    world.client.seed(PERSISTENT_VOLUMES, {"metadata": {"name": "pv"}, "spec": spec, "status": {"phase": "Bound"}})
    world.settle()
    return world


def with_snapshot(world, ready=True, size="1Gi", driver=DRIVER):
    status = {"boundVolumeSnapshotContentName": "k", "readyToUse": ready, "restoreSize": size}
    world.client.seed(SNAPSHOTS, {"metadata": {"name": "s", "namespace": "d", "uid": "us"}, "status": status})
    spec = {"driver": driver, "volumeSnapshotRef": {"name": "s", "namespace": "d", "uid": "us"}}
    content = {"metadata": {"name": "k"}, "spec": spec, "status": {"snapshotHandle": "snap-1"}}
    world.client.seed(SNAPSHOT_CONTENTS, content)
    world.settle()
    return world


def test_a_clone_and_the_claim_it_is_of_is_kept_meanwhile():
    world = with_original(World(claim(dataSource=CLONE)))
    held = world.claim("old")["metadata"].get("finalizers")
    bound = {**world.claim(), "status": {"phase": "Bound"}}
    world.client.update(PERSISTENT_VOLUME_CLAIMS, bound, "d", subresource="status")
    world.settle()

    assert world.driver.requests["CreateVolume"]["volume_content_source"] == {"volume": {"volume_id": "h"}}
    assert held == [HOLD]
    assert not world.claim("old")["metadata"].get("finalizers")


def test_a_snapshot_is_restored():
    world = with_snapshot(World(claim(dataSourceRef=SNAPSHOT)))

    assert world.driver.requests["CreateVolume"]["volume_content_source"] == {"snapshot": {"snapshot_id": "snap-1"}}
    assert list(world.volumes) == ["pvc-u-c"]


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (
            lambda: with_original(World(claim(dataSource=CLONE)), size="2Gi"),
            (
                "error getting handle for DataSource Type PersistentVolumeClaim by Name old: error, new PVC request must be "
                "greater than or equal in size to the specified PVC data source, requested 1073741824 but source is 2147483648"
            ),
        ),
        (
            lambda: with_original(World(claim(dataSource=CLONE)), mode="Block"),
            "must have the same volume mode for cloning.  Source is Block, but new PVC requested Filesystem",
        ),
        (
            lambda: with_original(World(claim(dataSource=CLONE)), phase="Pending"),
            "must have a status of Bound.  Got Pending",
        ),
        (lambda: with_snapshot(World(claim(dataSource=SNAPSHOT)), ready=False), "snapshot s is not Ready"),
        (lambda: with_snapshot(World(claim(dataSource=SNAPSHOT)), driver="x"), "snapshot s not bound"),
        (
            lambda: with_snapshot(World(claim(dataSource=SNAPSHOT)), size="2Gi"),
            "requested volume size 1073741824 is less than the size 2147483648 for the source snapshot s",
        ),
        (
            lambda: with_original(World(claim(dataSource=CLONE), driver=MemoryDriver())),
            "CSI driver does not support clone: plugin",
        ),
    ],
)
def test_what_cannot_be_copied(build, text):
    world = build()

    assert text in world.said()[-1][1]
    assert "pvc-u-c" not in world.volumes
    assert world.driver.volumes == {}


def test_the_rest_is_filled_by_populators():
    world = World(claim(dataSourceRef={"apiGroup": "x.example.com", "kind": "Website", "name": "w"}))
    world.settle()

    assert world.said()[-1] == ("Provisioning", "Assuming an external populator will provision the volume")
    assert world.volumes == {}
