"""A CSI driver in Python on a node with containers: its volumes from the claim to the pod, and back to nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hyperkube_addon.csi_host_path import CSI_DRIVER, storage_class
from hyperkube_addon.snapshot_crds import DEFINITIONS

from hyperkube.testing.waiting import eventually

NAME = "host-path.csi.hyperkube.dev"
IMAGE = storage_class("disk", is_default=False, backing="image")
FS = {"csi.storage.k8s.io/fstype": "xfs"}  # ext4 grows while mounted only where CAP_SYS_RESOURCE is to be had
SECONDS = 60


class Driver:
    """The driver's process on a node."""

    def __init__(self, node, folder):
        self.node, self.folder = node, folder
        self.start()

    def start(self):
        self.program = self.node.start(
            Path(sys.executable).with_name("hyperkube"), "csi-driver", "csi-host-path",
            f"--endpoint=unix://{self.folder}/csi.sock", "--registration-dir=/var/lib/kubelet/plugins_registry",
            f"--csi-host-path-dir={self.folder}/volumes",
        )  # fmt: skip

    def kill(self):
        """End it as a crash does, and bring it back."""
        self.program.kill()
        self.start()

    def volumes(self):
        folder = self.folder / "volumes" / "volumes"
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []

    def loop_devices(self):
        lines = subprocess.run(["losetup", "-a"], capture_output=True, text=True, check=True).stdout.splitlines()
        return [line.partition(":")[0] for line in lines if str(self.folder) in line]


@pytest.fixture(scope="module")
def driver(cluster, node, csi_folder):
    made = Driver(node, csi_folder)
    cluster.apply(*DEFINITIONS)
    cluster.apply(CSI_DRIVER, {**IMAGE, "parameters": {**IMAGE["parameters"], **FS}})
    kinds = [f"crd/{each['metadata']['name']}" for each in DEFINITIONS]
    cluster.kubectl("wait", "--for=condition=Established", *kinds, "--timeout=30s")
    kind = {"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshotClass", "metadata": {"name": "copies"}}
    cluster.apply({**kind, "driver": NAME, "deletionPolicy": "Delete"})
    yield made
    made.program.stop()
    for device in made.loop_devices():  # of a test that failed
        subprocess.run(["losetup", "-d", device], check=False)


def claim(name, size="320Mi", **spec):
    return {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
        "spec": {
            "storageClassName": "disk", "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}}, **spec,
        },
    }  # fmt: skip


def template(*, is_device=False):
    """Return what a pod consists of that has its volume at ``/data``."""
    place = {"volumeDevices": [{"name": "data", "devicePath": "/data"}]}
    if not is_device:
        place = {"volumeMounts": [{"name": "data", "mountPath": "/data"}]}
    container = {"name": "c", "image": "busybox:lab", "command": ["sleep", "1000"], **place}
    return {
        "terminationGracePeriodSeconds": 1, "nodeSelector": {"kubernetes.io/hostname": "node-1"},
        "containers": [container],
    }  # fmt: skip


def pod(name, volume, *, is_device=False):
    source = {"name": "data", "persistentVolumeClaim": {"claimName": volume}}
    spec = {**template(is_device=is_device), "volumes": [source]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def stateful_set(name):
    return {
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name},
        "spec": {
            "serviceName": name, "replicas": 2, "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": template()},
            "volumeClaimTemplates": [claim("data")],
        },
    }  # fmt: skip


def run(cluster, name, script):
    return cluster.kubectl("exec", name, "--", "sh", "-c", script).stdout.strip()


def wait_ready(cluster, *names):
    words = [f"pod/{name}" for name in names]
    cluster.kubectl("wait", "--for=condition=Ready", *words, f"--timeout={SECONDS}s")


def status(cluster, kind, name):
    return cluster.get(kind, name).get("status") or {}


def test_a_set_of_pods_keeps_its_data_while_its_volumes_grow_and_are_copied(cluster, driver):
    """From claims to pods and back to nothing; the driver is killed between the steps, and while they are under way."""
    cluster.apply(stateful_set("db"))
    driver.kill()
    eventually(lambda: len(cluster.get("pods", "-l", "app=db")) == 2, SECONDS, why="the pods are made")
    wait_ready(cluster, "db-0", "db-1")
    write = "dd if=/dev/urandom of=/data/file bs=1M count=4 2>/dev/null; sync; md5sum < /data/file"
    sums = {name: run(cluster, name, write) for name in ("db-0", "db-1")}
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
