"""A CSI driver of ours on nodes with containers, and the objects that its tests make."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hyperkube_addon.csi_host_path import storage_class

NAME = "host-path.csi.hyperkube.dev"
IMAGE = storage_class("disk", is_default=False, backing="image")
FS = {"csi.storage.k8s.io/fstype": "xfs"}  # ext4 grows while mounted only where CAP_SYS_RESOURCE is to be had
SECONDS = 60
INTERRUPTED = Path(__file__).with_name("interrupted_driver.py")


class Driver:
    """The driver's process on a node."""

    def __init__(self, node, folder, *, socket="csi.sock", flags=()):
        self.node, self.folder = node, folder
        self._line = [Path(sys.executable).with_name("hyperkube")]
        self._words = [
            "csi-driver", "csi-host-path",
            f"--endpoint=unix://{folder}/{socket}", "--registration-dir=/var/lib/kubelet/plugins_registry",
            f"--csi-host-path-dir={folder}/volumes", *flags,
        ]  # fmt: skip
        self.start()

    def start(self):
        self.program = self.node.start(*self._line, *self._words)

    def interrupted_in(self, how, moments):
        """Run it with interruptions from now on, or without them; see ``interrupted_driver.py``."""
        self._line = [Path(sys.executable).with_name("hyperkube")]
        if how:
            self._line = [sys.executable, INTERRUPTED, how, moments]
        self.kill()

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


def claim(name, size="320Mi", **spec):
    return {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
        "spec": {
            "storageClassName": "disk", "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}}, **spec,
        },
    }  # fmt: skip


def template(*, is_device=False, node="node-1"):
    """Return what a pod consists of that has its volume at ``/data``."""
    place = {"volumeDevices": [{"name": "data", "devicePath": "/data"}]}
    if not is_device:
        place = {"volumeMounts": [{"name": "data", "mountPath": "/data"}]}
    container = {"name": "c", "image": "busybox:lab", "command": ["sleep", "1000"], **place}
    return {
        "terminationGracePeriodSeconds": 1, "nodeSelector": {"kubernetes.io/hostname": node},
        "containers": [container],
    }  # fmt: skip


def pod(name, volume, **options):
    source = {"name": "data", "persistentVolumeClaim": {"claimName": volume}}
    spec = {**template(**options), "volumes": [source]}
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


def wait_ready(cluster, *names, seconds=SECONDS):
    words = [f"pod/{name}" for name in names]
    cluster.kubectl("wait", "--for=condition=Ready", *words, f"--timeout={seconds}s", seconds=seconds + 30)


def status(cluster, kind, name):
    return cluster.get(kind, name).get("status") or {}
