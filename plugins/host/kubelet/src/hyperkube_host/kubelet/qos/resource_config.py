"""From requests and limits to what a cgroup is told: shares, quota, memory, huge pages.

Sources: kubernetes ``pkg/kubelet/cm/helpers_linux.go``; runc 1.3 (ConvertCPUSharesToCgroupV2Value).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from hyperkube.kinds.pods import container_resources, pod_limits, pod_requests, spec_of
from hyperkube.kinds.qos import BEST_EFFORT, BURSTABLE, GUARANTEED, qos_class
from hyperkube.kinds.resource_lists import HUGE_PAGES_PREFIX, ResourceList
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import Quantity, parse

MIN_SHARES = 2
MAX_SHARES = 262_144
SHARES_PER_CPU = 1024
QUOTA_PERIOD = 100_000
"""Microseconds; ``--cpu-cfs-quota-period`` unless given."""
MIN_QUOTA = 1000
MIN_MILLI_CPU_FOR_QUOTA = 10
UNBOUNDED_HUGE_PAGES = 1 << 62
MEMORY_MIN, MEMORY_HIGH = "memory.min", "memory.high"
HUGE_PAGES_FOLDER = Path("/sys/kernel/mm/hugepages")
_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceConfig:
    """What a cgroup is told; None leaves it alone.

    Attributes:
        memory: limit in bytes.
        cpu_shares: weight by the measure of cgroup v1; v2 converts it.
        cpu_quota: microseconds of each period; -1 for no limit.
        cpu_period: microseconds.
        huge_page_limit: bytes by the page's size in bytes.
        pids_limit: processes and threads.
        unified: files of cgroup v2 and their values.
        cpuset_cpus: a list of CPUs (``0-2,7``).
    """

    memory: int | None = None
    cpu_shares: int | None = None
    cpu_quota: int | None = None
    cpu_period: int | None = None
    huge_page_limit: Mapping[int, int] = field(default_factory=dict)
    pids_limit: int | None = None
    unified: Mapping[str, str] = field(default_factory=dict)
    cpuset_cpus: str | None = None

    def with_memory(self, memory: int) -> ResourceConfig:
        """Return the same with another limit of memory."""
        return replace(self, memory=memory)


def milli_cpu_to_shares(milli_cpu: int) -> int:
    """Return the CPU shares (cgroup v1) of thousandths of a CPU."""
    return min(max(milli_cpu * SHARES_PER_CPU // 1000, MIN_SHARES), MAX_SHARES)


def milli_cpu_to_quota(milli_cpu: int, period: int = QUOTA_PERIOD) -> int:
    """Return the CFS quota of thousandths of a CPU in microseconds of each `period`; 0 for no limit."""
    if milli_cpu == 0:
        return 0
    return max(milli_cpu * period // 1000, MIN_QUOTA)


def shares_to_weight(shares: int) -> int:
    """Return the ``cpu.weight`` (cgroup v2) of CPU shares; 0 stays 0: not set.

    The curve of runc 1.3.2 and crun 1.23 goes through 2 → 1, 1024 → 100 and 262144 → 10000, so that a container that
    asks for one CPU weighs as much as a process outside of containers does by default.
    """
    if shares == 0:
        return 0
    if shares <= MIN_SHARES:
        return 1
    if shares >= MAX_SHARES:
        return 10_000
    logarithm = math.log2(shares)
    exponent = (logarithm * logarithm + 125 * logarithm) / 612.0 - 7.0 / 34.0
    return math.ceil(10**exponent)


def weight_to_shares(weight: int) -> int:
    """Return the CPU shares of a ``cpu.weight``, by the straight line that was in use before."""
    return (weight - 1) * 262_142 // 9999 + 2


def huge_page_sizes(folder: Path = HUGE_PAGES_FOLDER) -> tuple[int, ...]:
    """Return the sizes in bytes of the huge pages that the machine can have, as their folders are sorted by name."""
    names = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    return tuple(int(name.removeprefix("hugepages-").removesuffix("kB")) << 10 for name in names)


def huge_pages(folder: Path = HUGE_PAGES_FOLDER) -> dict[str, str]:
    """Return resource → amount of the huge pages that the machine has: ``hugepages-2Mi``."""
    found = {}
    for size in huge_page_sizes(folder):
        count = int((folder / f"hugepages-{size >> 10}kB/nr_hugepages").read_text())
        found[huge_page_resource(size)] = str(Quantity(count * size, form="BinarySI"))
    return found


def huge_page_resource(size: int) -> str:
    """Return the name of the resource of pages of that size in bytes: ``hugepages-2Mi``."""
    return f"{HUGE_PAGES_PREFIX}{page_size_name(size).replace('B', 'i')}"


def page_size_name(size: int) -> str:
    """Return the size of a page as cgroup files and CRI name it: ``2MB``, ``1GB``."""
    unit = 0
    while size >= 1024 and size % 1024 == 0 and unit < len(_UNITS) - 1:
        size, unit = size >> 10, unit + 1
    return f"{size}{_UNITS[unit]}"


def huge_page_limits(resources: Mapping[str, Quantity]) -> dict[int, int]:
    """Return page size → bytes of the ``hugepages-SIZE`` in a list of resources."""
    return {
        parse(name.removeprefix(HUGE_PAGES_PREFIX)).value(): amount.value()
        for name, amount in resources.items()
        if name.startswith(HUGE_PAGES_PREFIX)
    }


def container_huge_page_limits(container: Object, sizes: Sequence[int]) -> dict[str, int]:
    """Return page size name → bytes for all sizes of the machine: a container has none of what it does not ask for."""
    limits = huge_page_limits(container_resources(container, "limits"))
    return {page_size_name(size): limits.get(size, 0) for size in sizes}


def resource_config_for_pod(
    pod: Object,
    *,
    enforce_cpu_limits: bool = True,
    cpu_period: int = QUOTA_PERIOD,
    enforce_memory_qos: bool = False,
    pids_limit: int | None = None,
) -> ResourceConfig:
    """Return what the cgroup of a pod is told."""
    requests, limits = pod_requests(pod), pod_limits(pod)
    quality = qos_class(pod)
    cpu_limited, memory_limited = (
        quality == GUARANTEED or (quality == BURSTABLE and _all_limited(pod, name)) for name in ("cpu", "memory")
    )
    quota = milli_cpu_to_quota(_milli(limits), cpu_period) if enforce_cpu_limits else -1
    return ResourceConfig(
        memory=_bytes(limits) if memory_limited else None,
        cpu_shares=milli_cpu_to_shares(_milli(requests)) if quality != BEST_EFFORT else MIN_SHARES,
        cpu_quota=quota if cpu_limited else None,
        cpu_period=cpu_period if cpu_limited else None,
        huge_page_limit=huge_page_limits(requests),
        pids_limit=pids_limit,
        unified=_memory_min(requests) if enforce_memory_qos else {},
    )


def resource_config_of(resources: ResourceList) -> ResourceConfig:
    """Return what the cgroup of all pods, or of the system, is told when it may use `resources` at the most."""
    memory, cpu, pids = resources.get("memory"), resources.get("cpu"), resources.get("pid")
    return ResourceConfig(
        memory=None if memory is None else memory.value(),
        cpu_shares=None if cpu is None else milli_cpu_to_shares(cpu.milli_value()),
        pids_limit=None if pids is None else pids.value(),
        huge_page_limit=huge_page_limits(resources),
    )


def memory_high(request: int, limit: int, allocatable: int, throttling_factor: float, page_size: int = 4096) -> int:
    """Return the bytes above which a container is throttled (``memory.high``), 0 for none; a multiple of the page size.

    Source: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_container_linux.go`` (MemoryQoS).
    """
    most = limit or allocatable
    if request == limit or not most:
        return 0
    high = math.floor((request + (most - request) * throttling_factor) / page_size) * page_size
    return high if high > request else 0


def _memory_min(requests: ResourceList) -> dict[str, str]:
    request = _bytes(requests)
    return {MEMORY_MIN: str(request)} if request > 0 else {}


def _all_limited(pod: Object, name: str) -> bool:
    """Tell whether the pod as a whole is limited, by itself or by every one of its containers."""
    spec = spec_of(pod)
    pod_level = (spec.get("resources") or {}).get("limits") or {}
    if name in pod_level:
        return True
    everyone = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    return all(container_resources(container, "limits").get(name) for container in everyone)


def _milli(resources: ResourceList) -> int:
    cpu = resources.get("cpu")
    return 0 if cpu is None else cpu.milli_value()


def _bytes(resources: ResourceList) -> int:
    memory = resources.get("memory")
    return 0 if memory is None else memory.value()
