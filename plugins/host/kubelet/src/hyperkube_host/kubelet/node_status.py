"""The Node object: what this machine is, what it has, and whether it can run pods.

Source of order and texts: kubernetes ``pkg/kubelet/nodestatus/setters.go``.
"""

from __future__ import annotations

import platform
import shutil
import socket
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path

from hyperkube_host.kubelet.options import KubeletOptions

from hyperkube.hookspecs.runtime import Runtime
from hyperkube.kinds.conditions import with_condition
from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.objects import Object
from hyperkube.machinery.release import GIT_VERSION
from hyperkube.machinery.times import format_time

MAX_IMAGES = 50
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "i686": "386"}


def architecture() -> str:
    """Return the machine's architecture by Go's name."""
    machine = platform.machine()
    return _ARCHITECTURES.get(machine, machine)


def node_addresses(options: KubeletOptions) -> list[str]:
    """Return the node's addresses: the one given, else the one that the machine's default route uses."""
    if options.node_ip:
        return options.node_ip.split(",")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # chooses a route, sends nothing
            return [str(probe.getsockname()[0])]
        except OSError:
            return ["127.0.0.1"]


def first_labels(options: KubeletOptions) -> dict[str, str]:
    """Return the labels a node registers with."""
    system = platform.system().lower()
    return {
        "beta.kubernetes.io/arch": architecture(),
        "beta.kubernetes.io/os": system,
        "kubernetes.io/arch": architecture(),
        "kubernetes.io/hostname": options.node_name,
        "kubernetes.io/os": system,
        **options.node_labels,
    }


def first_node(options: KubeletOptions) -> Object:
    """Return the Node to register, without its status."""
    spec: Object = {}
    taints = list(options.taints)
    if not options.schedulable:
        spec["unschedulable"] = True
        taints.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
    if taints:
        spec["taints"] = taints
    if options.provider_id:
        spec["providerID"] = options.provider_id
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {
            "name": options.node_name,
            "labels": first_labels(options),
            "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
        },
        "spec": spec,
    }


class NodeStatus:
    """Computes the node's status."""

    def __init__(
        self,
        options: KubeletOptions,
        runtime: Runtime,
        addresses: Iterable[str],
        problems: Callable[[], Iterable[str]],
    ) -> None:
        """Ask `problems` why the node is not ready; none means it is."""
        self._options = options
        self._runtime = runtime
        self._addresses = list(addresses)
        self._problems = problems
        self._machine = _machine_info(options, runtime.name)

    def compute(self, old: Object, now: datetime) -> Object:
        """Return the status, given the one that is there."""
        capacity = self._machine["capacity"]
        status: Object = {
            key: value for key, value in old.items() if key in {"volumesInUse", "volumesAttached", "features", "config"}
        }
        hostname = {"type": "Hostname", "address": self._options.node_name}
        status |= {
            "addresses": [*({"type": "InternalIP", "address": a} for a in self._addresses), hostname],
            "capacity": capacity,
            "allocatable": dict(capacity),
            "nodeInfo": {
                **self._machine["info"],
                "containerRuntimeVersion": f"{self._runtime.name}://{self._runtime.version()}",
            },
            "daemonEndpoints": {"kubeletEndpoint": {"Port": self._options.port}},
            "images": [
                {"names": [*image.digests, *image.tags], "sizeBytes": image.size}
                for image in sorted(self._runtime.images(), key=lambda image: -image.size)[:MAX_IMAGES]
            ],
        }
        status["conditions"] = self._conditions(old, now)
        return status

    def _conditions(self, old: Object, now: datetime) -> list[Object]:
        mine = [
            ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
            ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
            ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ]
        problems = [problem for problem in self._problems() if problem]
        if problems:
            mine.append(("Ready", "False", "KubeletNotReady", aggregate(problems)))
        else:
            mine.append(("Ready", "True", "KubeletReady", "kubelet is posting ready status"))
        conditions: list[Object] = list(old.get("conditions") or ())
        for name, state, reason, message in mine:
            new = {"type": name, "status": state, "reason": reason, "message": message}
            conditions = with_condition(conditions, {**new, "lastHeartbeatTime": format_time(now)}, now)
        return conditions


def without_heartbeats(status: Object) -> Object:
    """Return a status as it is compared: conditions without the time they were last looked at."""
    stripped = [
        {key: value for key, value in entry.items() if key != "lastHeartbeatTime"}
        for entry in status.get("conditions") or []
    ]
    return {**status, "conditions": stripped}


def _machine_info(options: KubeletOptions, runtime_name: str) -> Object:
    import psutil

    hollow = runtime_name == "hollow"
    cores = 8 if hollow else psutil.cpu_count() or 1
    memory = 32 << 30 if hollow else psutil.virtual_memory().total
    disk = 100 << 30 if hollow else shutil.disk_usage(_existing(options.root)).total
    return {
        "capacity": {
            "cpu": str(cores),
            "ephemeral-storage": f"{disk // 1024}Ki",
            "hugepages-1Gi": "0",
            "hugepages-2Mi": "0",
            "memory": f"{memory // 1024}Ki",
            "pods": str(options.max_pods),
        },
        "info": {
            "machineID": _text("/etc/machine-id"),
            "systemUUID": _text("/sys/class/dmi/id/product_uuid") or _text("/etc/machine-id"),
            "bootID": _text("/proc/sys/kernel/random/boot_id"),
            "kernelVersion": platform.release(),
            "osImage": _os_image(),
            "kubeletVersion": GIT_VERSION,
            "kubeProxyVersion": "",
            "operatingSystem": platform.system().lower(),
            "architecture": architecture(),
        },
    }


def _existing(path: Path) -> Path:
    while not path.exists():
        path = path.parent
    return path


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _os_image() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        return platform.system()
