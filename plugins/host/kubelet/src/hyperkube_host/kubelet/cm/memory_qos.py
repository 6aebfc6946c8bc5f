"""MemoryQoS: the memory of a container that is kept for it, and from where on it is slowed down (cgroup v2).

Source: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_container_linux.go`` (generateLinuxContainerResources).
"""

from __future__ import annotations

from hyperkube_host.kubelet.cm.interface import CriMessage
from hyperkube_host.kubelet.qos.resource_config import MEMORY_HIGH, MEMORY_MIN, memory_high

from hyperkube.kinds.pods import container_resources
from hyperkube.machinery.objects import Object
from hyperkube.machinery.record import Record


class MemoryQos(Record):
    """The node's settings.

    Attributes:
        enabled: the gate is on, and cgroups are of version 2.
        throttling_factor: where between request and limit a container is slowed down, from 0 to 1.
        allocatable: bytes that all pods may use: the limit of containers that have none.
    """

    enabled: bool
    throttling_factor: float
    allocatable: int


def memory_qos_files(container: Object, settings: MemoryQos) -> dict[str, str]:
    """Return files of a container's cgroup and what they hold; none for one that neither asks nor has a limit."""
    if not settings.enabled:
        return {}
    request, limit = (_memory(container, kind) for kind in ("requests", "limits"))
    high = memory_high(request, limit, settings.allocatable, settings.throttling_factor)
    found = {MEMORY_MIN: request, MEMORY_HIGH: high}
    return {name: str(amount) for name, amount in found.items() if amount}


def with_files(resources: CriMessage, files: dict[str, str]) -> CriMessage:
    """Return ``LinuxContainerResources`` with further files of the cgroup."""
    return {**resources, "unified": {**resources.get("unified", {}), **files}} if files else resources


def _memory(container: Object, kind: str) -> int:
    amount = container_resources(container, kind).get("memory")
    return amount.value() if amount else 0
