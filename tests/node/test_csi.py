"""A CSI driver in Python on a node with containers: its volumes from the claim to the pod, and back to nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hyperkube_addon.csi_host_path import CSI_DRIVER, storage_class

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


@pytest.fixture(scope="module")
def driver(cluster, node, csi_folder):
    made = Driver(node, csi_folder)
    cluster.apply(CSI_DRIVER, {**IMAGE, "parameters": {**IMAGE["parameters"], **FS}})
    yield made
    made.program.stop()
    devices = subprocess.run(["losetup", "-a"], capture_output=True, text=True, check=True).stdout
    assert str(csi_folder) not in devices, "no loop device is left"


def claim(name, size="320Mi", **spec):
    return {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
        "spec": {
            "storageClassName": "disk", "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}}, **spec,
        },
    }  # fmt: skip


def pod(name, volume, *words):
    container = {
        "name": "c", "image": "busybox:lab", "command": ["sh", "-c", "sleep 1000"],
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }  # fmt: skip
    source = {"name": "data", "persistentVolumeClaim": {"claimName": volume}}
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {
            "terminationGracePeriodSeconds": 1, "nodeSelector": {"kubernetes.io/hostname": "node-1"},
            "containers": [container], "volumes": [source],
        },
    }  # fmt: skip


def run(cluster, name, script):
    return cluster.kubectl("exec", name, "--", "sh", "-c", script).stdout.strip()


def test_a_claim_is_bound_and_a_pod_with_it_runs(cluster, driver):
    cluster.apply(claim("first"), pod("first", "first"))
    cluster.kubectl("wait", "--for=condition=Ready", "pod/first", f"--timeout={SECONDS}s")

    run(cluster, "first", "echo kept > /data/file; sync")
    assert run(cluster, "first", "cat /data/file") == "kept"
    (name,) = driver.volumes()
    volume = cluster.get("pv", name)
    assert volume["spec"]["csi"]["driver"] == NAME

    cluster.kubectl("delete", "pod", "first")
    cluster.kubectl("delete", "pvc", "first")
    assert eventually(lambda: driver.volumes() == [], SECONDS, why="the volume is deleted")
