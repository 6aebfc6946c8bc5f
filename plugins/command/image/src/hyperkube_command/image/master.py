"""The turn-key master: etcd, API server, controller manager and scheduler as one static pod.

A kubelet with ``--config=/etc/kubernetes/manifests`` starts it, as the guides of release 1.0 did
(cluster/images/hyperkube, master.json); the plain HTTP port is for the machine itself alone.
"""

from __future__ import annotations

from typing import Any

ETCD = "http://127.0.0.1:4001"
SERVER = "127.0.0.1:8080"
_KEYS = "/var/run/kubernetes"
_ETCD_DATA = "/var/lib/hyperkube-etcd"


def manifest(image: str, program: str = "hyperkube") -> dict[str, Any]:
    """Return the static pod.

    Args:
        image: what its containers run; ``host`` for the process runtime.
        program: how hyperkube is called there.
    """
    lines = _command_lines(program)
    mounts = {
        "etcd": [{"name": "etcd", "mountPath": _ETCD_DATA}],
        "apiserver": [{"name": "keys", "mountPath": _KEYS}],
        "controller-manager": [{"name": "keys", "mountPath": _KEYS, "readOnly": True}],
        "scheduler": [],
    }
    containers = [
        {
            "name": name,
            "image": image,
            "imagePullPolicy": "IfNotPresent",  # it was loaded into the runtime, and stands in no registry
            "command": line,
            **({"volumeMounts": mounts[name]} if mounts[name] else {}),
        }
        for name, line in lines.items()
    ]
    volumes = [
        {"name": "etcd", "hostPath": {"path": _ETCD_DATA, "type": "DirectoryOrCreate"}},
        {"name": "keys", "emptyDir": {}},
    ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "k8s-master", "namespace": "default", "labels": {"tier": "control-plane"}},
        "spec": {"hostNetwork": True, "containers": containers, "volumes": volumes},
    }


def _command_lines(program: str) -> dict[str, list[str]]:
    """Return container name → command."""
    return {
        "etcd": [
            "etcd",
            f"--data-dir={_ETCD_DATA}",
            f"--listen-client-urls={ETCD}",
            f"--advertise-client-urls={ETCD}",
            "--listen-peer-urls=http://127.0.0.1:4002",
        ],
        "apiserver": [
            program,
            "apiserver",
            "--service-cluster-ip-range=10.0.0.1/24",
            "--insecure-bind-address=127.0.0.1",
            f"--etcd-servers={ETCD}",
            f"--cert-dir={_KEYS}",
            f"--service-account-key-file={_KEYS}/apiserver.key",
            "--cluster-name=kubernetes",
            "--allow-privileged=true",
            "--v=2",
        ],
        "controller-manager": [
            program,
            "controller-manager",
            f"--master={SERVER}",
            f"--service-account-private-key-file={_KEYS}/apiserver.key",
            "--v=2",
        ],
        "scheduler": [program, "scheduler", f"--master={SERVER}", "--v=2"],
    }
