"""A CSI driver in Python on a node with containers: its volumes from the claim to the pod, and back to nothing."""

from __future__ import annotations

import pytest
from csi_volumes import SECONDS, claim, pod, run, stateful_set, status, wait_ready

from hyperkube.testing.waiting import eventually

pytestmark = pytest.mark.timeout(400)


def test_a_set_of_pods_keeps_its_data_while_its_volumes_grow_and_are_copied(cluster, driver):
    """From claims to pods and back to nothing; the driver is killed between the steps, and while they are under way."""
    cluster.apply(stateful_set("db"))
    driver.kill()
    eventually(lambda: len(cluster.get("pods", "-l", "app=db")) == 2, SECONDS, why="the pods are made")
    wait_ready(cluster, "db-0", "db-1")
    write = "dd if=/dev/urandom of=/data/file bs=1M count=4 2>/dev/null; sync; md5sum < /data/file"
    sums = {name: run(cluster, name, write) for name in ("db-0", "db-1")}
    told = cluster.get("csinode", "node-1")["metadata"]["annotations"]["storage.alpha.kubernetes.io/migrated-plugins"]
    assert {"kubernetes.io/aws-ebs", "kubernetes.io/portworx-volume"} < set(told.split(","))
    before = int(run(cluster, "db-0", "df -k /data | tail -1 | awk '{print $2}'"))

    more = '{"spec":{"resources":{"requests":{"storage":"640Mi"}}}}'
    cluster.kubectl("patch", "pvc", "data-db-0", "-p", more)
    driver.kill()
    eventually(
        lambda: (status(cluster, "pvc", "data-db-0").get("capacity") or {}).get("storage") == "640Mi",
        2 * SECONDS, why="the volume has grown",
    )  # fmt: skip
    after = int(run(cluster, "db-0", "df -k /data | tail -1 | awk '{print $2}'"))
    assert after > before * 3 // 2
    assert "allocatedResourceStatuses" not in status(cluster, "pvc", "data-db-0")

    source = {"persistentVolumeClaimName": "data-db-0"}
    snapshot = {"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshot", "metadata": {"name": "s"}}
    cluster.apply({**snapshot, "spec": {"source": source, "volumeSnapshotClassName": "copies"}})
    driver.kill()
    eventually(lambda: status(cluster, "volumesnapshot", "s").get("readyToUse"), SECONDS, why="the snapshot is ready")
    run(cluster, "db-0", "echo later > /data/file; sync")

    restored = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "s"}
    clone = {"kind": "PersistentVolumeClaim", "name": "data-db-1"}
    cluster.apply(claim("restored", "640Mi", dataSource=restored), claim("clone", dataSource=clone))
    cluster.apply(pod("restored", "restored"), pod("clone", "clone"))
    driver.kill()
    wait_ready(cluster, "restored", "clone")
    assert run(cluster, "restored", "md5sum < /data/file") == sums["db-0"]
    assert run(cluster, "clone", "md5sum < /data/file") == sums["db-1"]
    assert len(driver.volumes()) == 4

    cluster.kubectl("delete", "statefulset/db", "pod/restored", "pod/clone", "volumesnapshot/s")
    driver.kill()
    cluster.kubectl("delete", "pvc", "data-db-0", "data-db-1", "restored", "clone")
    eventually(lambda: driver.volumes() == [], 2 * SECONDS, why="no volume is left")
    assert not any((driver.folder / "volumes" / "snapshots").iterdir())
    assert cluster.get("volumeattachments") == []
    assert driver.loop_devices() == []


def test_a_device_and_a_volume_for_one_pod(cluster, driver):
    cluster.apply(claim("raw", "16Mi", volumeMode="Block"), pod("raw", "raw", is_device=True))
    cluster.apply(claim("alone", accessModes=["ReadWriteOncePod"]), pod("alone", "alone"), pod("second", "alone"))
    wait_ready(cluster, "raw")

    run(cluster, "raw", "echo kept | dd of=/data bs=512 conv=sync 2>/dev/null; sync")
    assert run(cluster, "raw", "dd if=/data bs=512 count=1 2>/dev/null | head -1") == "kept"

    def pods():
        return {name: status(cluster, "pod", name).get("phase") for name in ("alone", "second")}

    eventually(lambda: sorted(pods().values()) == ["Pending", "Running"], SECONDS, why="one of the two runs")
    waits = next(name for name, phase in pods().items() if phase == "Pending")
    condition = eventually(lambda: status(cluster, "pod", waits).get("conditions"), SECONDS)[0]
    assert "ReadWriteOncePod access mode already in-use by another pod" in condition["message"]

    cluster.kubectl("delete", "pod", "raw", "alone", "second")
    cluster.kubectl("delete", "pvc", "raw", "alone")
    eventually(lambda: driver.volumes() == [], SECONDS, why="no volume is left")
    assert driver.loop_devices() == []
