"""What the runtime is told of the CPU and memory of containers and sandboxes.

Source: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_container_linux.go``, ``kuberuntime_sandbox_linux.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperkube_host.kubelet.cm.interface import ContainerManager
from hyperkube_host.kubelet.qos.policy import container_oom_score_adjust
from hyperkube_host.kubelet.qos.resource_config import (
    QUOTA_PERIOD,
    container_huge_page_limits,
    huge_page_sizes,
    milli_cpu_to_quota,
    milli_cpu_to_shares,
)

from hyperkube.hookspecs.runtime import Config
from hyperkube.kinds.pods import container_resources, pod_limits, pod_requests
from hyperkube.kinds.resource_lists import ResourceList, read
from hyperkube.machinery.objects import Object
from hyperkube.machinery.record import Record


class ResourceSettings(Record):
    """The node's settings for limits.

    Attributes:
        memory_capacity: the machine's memory in bytes.
        enforce_cpu_quota: whether limits of CPU are enforced (``--cpu-cfs-quota``).
        cpu_period: microseconds (``--cpu-cfs-quota-period``).
        huge_pages: the sizes of the machine's huge pages.
        container_manager: says what a container may swap, and which pods have CPUs for themselves.
    """

    memory_capacity: int
    enforce_cpu_quota: bool = True
    cpu_period: int = QUOTA_PERIOD
    huge_pages: tuple[int, ...] = ()
    container_manager: ContainerManager


def resource_settings(memory_capacity: int, manager: ContainerManager) -> ResourceSettings:
    """Return the settings of this machine."""
    return ResourceSettings(
        memory_capacity=memory_capacity,
        enforce_cpu_quota=manager.enforce_cpu_quota,
        cpu_period=manager.cpu_period,
        huge_pages=huge_page_sizes(),
        container_manager=manager,
    )


def linux_resources(requests: ResourceList, limits: ResourceList, settings: ResourceSettings) -> dict[str, Any]:
    """Return the ``LinuxContainerResources`` of requests and limits."""
    cpu_limit = _milli(limits)
    made: dict[str, Any] = {"cpu_shares": milli_cpu_to_shares(_milli(requests) or cpu_limit)}
    if settings.enforce_cpu_quota:
        # A quota of 0 is none; the period is told in any case.
        made["cpu_period"] = settings.cpu_period
        quota = milli_cpu_to_quota(cpu_limit, settings.cpu_period)
        if quota:
            made["cpu_quota"] = quota
    memory = limits.get("memory")
    if memory:
        made["memory_limit_in_bytes"] = memory.value()
    return made


def container_linux_resources(
    pod: Object, container: Object, settings: ResourceSettings, exclusive: Config
) -> dict[str, Any]:
    """Return the ``LinuxContainerResources`` of a container.

    Args:
        pod: the pod, whose own limits are those of containers that have none.
        container: one of its containers.
        settings: the node's.
        exclusive: the CPUs and memory that it has for itself alone, as the container manager decided.
    """
    pod_level = read((pod["spec"].get("resources") or {}).get("limits"))
    limits = dict(container_resources(container, "limits"))
    limits |= {name: pod_level[name] for name in ("cpu", "memory") if pod_level.get(name) and not limits.get(name)}
    made = linux_resources(container_resources(container, "requests"), limits, settings)
    made["oom_score_adj"] = container_oom_score_adjust(pod, container, settings.memory_capacity)
    pages = container_huge_page_limits(container, settings.huge_pages)
    made["hugepage_limits"] = [_page_limit(size, limit) for size, limit in pages.items()]
    swap = settings.container_manager.swap_resources(pod, container, made.get("memory_limit_in_bytes", 0))
    return {**made, **swap, **exclusive}


def _page_limit(size: str, limit: int) -> Config:
    return {"page_size": size, "limit": limit} if limit else {"page_size": size}


def sandbox_resources(pod: Object, settings: ResourceSettings) -> tuple[Config, Config]:
    """Return the ``LinuxContainerResources`` of the pod's overhead and of its containers together."""
    overhead = read(pod["spec"].get("overhead"))
    resources = linux_resources(pod_requests(pod, with_overhead=False), pod_limits(pod, with_overhead=False), settings)
    if settings.container_manager.has_exclusive_cpus(pod):
        resources["cpu_quota"] = -1
    return (linux_resources(overhead, overhead, settings) if overhead else {}), resources


def _milli(resources: Mapping[str, Any]) -> int:
    cpu = resources.get("cpu")
    return 0 if cpu is None else int(cpu.milli_value())
