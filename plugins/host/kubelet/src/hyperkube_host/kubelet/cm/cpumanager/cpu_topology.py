"""Which CPUs share a core, a cache, a NUMA node, a socket: as the kernel tells under ``/sys/devices/system``.

Source: kubernetes ``pkg/kubelet/cm/cpumanager/topology/topology.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from hyperkube_host.kubelet.cm.cpumanager.cpu_set import CpuSet, parse_cpu_set

SYSTEM = Path("/sys/devices/system")


class CpuInfo(NamedTuple):
    """Where a CPU is.

    Attributes:
        numa_node: its NUMA node.
        socket: its package.
        core: its physical core, by the lowest of the core's CPUs.
        uncore_cache: its last level cache, by the lowest of the CPUs that share it.
    """

    numa_node: int
    socket: int
    core: int
    uncore_cache: int


Part = Callable[[CpuInfo], int]
"""What CPUs are grouped by."""


def numa_node_of(info: CpuInfo) -> int:
    """Group by NUMA node."""
    return info.numa_node


def socket_of(info: CpuInfo) -> int:
    """Group by socket."""
    return info.socket


def core_of(info: CpuInfo) -> int:
    """Group by physical core."""
    return info.core


def uncore_cache_of(info: CpuInfo) -> int:
    """Group by last level cache."""
    return info.uncore_cache


class CpuTopology:
    """The CPUs of a machine."""

    def __init__(self, details: Mapping[int, CpuInfo]) -> None:
        """Take where each CPU is."""
        self.details = details
        self.all_cpus: CpuSet = frozenset(details)
        self.numa_nodes = sorted({info.numa_node for info in details.values()})
        self.sockets = sorted({info.socket for info in details.values()})
        self.cores = sorted({info.core for info in details.values()})
        self.uncore_caches = sorted({info.uncore_cache for info in details.values()})

    @property
    def cpus_per_core(self) -> int:
        """The threads of a core."""
        return len(self.all_cpus) // max(len(self.cores), 1)

    @property
    def cpus_per_uncore_cache(self) -> int:
        """The CPUs that share a last level cache."""
        return len(self.all_cpus) // max(len(self.uncore_caches), 1)

    def cpus_in(self, part: Part, ids: Iterable[int], among: Iterable[int] | None = None) -> CpuSet:
        """Return the CPUs of some cores, caches, nodes or sockets, of all CPUs or of `among`."""
        wanted = set(ids)
        cpus = self.details if among is None else among
        return frozenset(cpu for cpu in cpus if part(self.details[cpu]) in wanted)

    def parts_of(self, part: Part, cpus: Iterable[int]) -> set[int]:
        """Return the cores, caches, nodes or sockets of some CPUs."""
        return {part(self.details[cpu]) for cpu in cpus}


def discover_topology(system: Path = SYSTEM) -> CpuTopology:
    """Return the topology of the CPUs that are online.

    Raises:
        OSError: the kernel does not tell.
        ValueError: what it tells cannot be read.
    """
    online = parse_cpu_set(_text(system / "cpu/online"))
    nodes = _numa_nodes(system / "node")
    details = {}
    for cpu in sorted(online):
        folder = system / f"cpu/cpu{cpu}"
        siblings = folder / "topology/thread_siblings_list"
        core = min(parse_cpu_set(_text(siblings))) if siblings.is_file() else cpu
        socket = max(int(_text(folder / "topology/physical_package_id") or 0), 0)
        details[cpu] = CpuInfo(nodes.get(cpu, 0), socket, core, _last_level_cache(folder / "cache", cpu))
    return CpuTopology(details)


def _numa_nodes(folder: Path) -> dict[int, int]:
    return {
        cpu: int(node.name.removeprefix("node"))
        for node in folder.glob("node[0-9]*")
        for cpu in parse_cpu_set(_text(node / "cpulist"))
    }


def _last_level_cache(folder: Path, cpu: int) -> int:
    caches = [(int(_text(index / "level") or 0), index) for index in folder.glob("index[0-9]*")]
    if not caches:
        return 0
    _, last = max(caches)
    return min(parse_cpu_set(_text(last / "shared_cpu_list")) or {cpu})


def _text(file: Path) -> str:
    return file.read_text().strip() if file.is_file() else ""
