"""Facts about the machine: its identity, system and size.

Source: kubernetes ``pkg/kubelet/nodestatus/setters.go`` (MachineInfo, VersionInfo).
"""

from __future__ import annotations

import os
import platform
import shutil
from pathlib import Path
from typing import NamedTuple

from hyperkube_host.kubelet.qos.resource_config import huge_pages

from hyperkube.hookspecs.runtime import MachineCapacity, Runtime, Simulated
from hyperkube.machinery.objects import Object
from hyperkube.machinery.release import GIT_VERSION

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "i686": "386"}


class MachineInfo(NamedTuple):
    """What does not change while the kubelet runs.

    Attributes:
        capacity: cores, memory and disk.
        node_info: ``status.nodeInfo`` without the runtime's version.
        huge_pages: the resource of each size of huge pages, and how much there is of it.
    """

    capacity: MachineCapacity
    node_info: Object
    huge_pages: dict[str, str]


def architecture() -> str:
    """Return the machine's architecture by Go's name."""
    machine = platform.machine()
    return _ARCHITECTURES.get(machine, machine)


def operating_system() -> str:
    """Return the system's name as Go writes it."""
    return platform.system().lower()


def machine_info(root: Path, runtime: Runtime) -> MachineInfo:
    """Return the facts about this machine, or about the one that a simulated runtime pretends to run on.

    Args:
        root: a folder on the disk that pods use.
        runtime: the node's runtime.
    """
    capacity = runtime.capacity() if isinstance(runtime, Simulated) else _measure(root)
    return MachineInfo(
        capacity,
        {
            "machineID": _text("/etc/machine-id"),
            "systemUUID": _text("/sys/class/dmi/id/product_uuid") or _text("/etc/machine-id"),
            "bootID": _text("/proc/sys/kernel/random/boot_id"),
            "kernelVersion": platform.release(),
            "osImage": _os_image(),
            "kubeletVersion": GIT_VERSION,
            "kubeProxyVersion": "",
            "operatingSystem": operating_system(),
            "architecture": architecture(),
        },
        dict.fromkeys(("hugepages-1Gi", "hugepages-2Mi"), "0") if isinstance(runtime, Simulated) else huge_pages(),
    )


def _measure(root: Path) -> MachineCapacity:
    disk = shutil.disk_usage(_existing(root)).total
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return MachineCapacity(cores=os.cpu_count() or 1, memory=memory, disk=disk)


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
