"""What pods use, read from the summary of the node; amounts that are not told count as nothing.

Source: kubernetes ``pkg/kubelet/eviction/helpers.go`` (makeSignalObservations, podDiskUsage).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from hyperkube_host.kubelet.eviction.decide import Observation, Observations
from hyperkube_host.kubelet.stats.container_figures import PODS_CONTAINER
from hyperkube_host.kubelet.thresholds import (
    ALLOCATABLE_MEMORY,
    CONTAINER_FS,
    CONTAINER_INODES,
    IMAGE_FS,
    IMAGE_INODES,
    MEMORY_AVAILABLE,
    NODE_FS,
    NODE_INODES,
    PID_AVAILABLE,
)

from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import parse_time

_LOCAL_VOLUMES = ("emptyDir", "configMap", "gitRepo", "hostPath")


class FsStats(Enum):
    """Which files of a pod count."""

    LOCAL_VOLUMES = "localVolumeSource"
    LOGS = "logs"
    ROOT = "root"


def observations_of(summary: Object) -> Observations:
    """Return what a summary says of each signal."""
    node = summary.get("node") or {}
    runtime = node.get("runtime") or {}
    found: dict[str, Observation] = dict(_memory(node))
    systems = ((NODE_FS, NODE_INODES, node.get("fs")), (IMAGE_FS, IMAGE_INODES, runtime.get("imageFs")),
               (CONTAINER_FS, CONTAINER_INODES, runtime.get("containerFs")))  # fmt: skip
    for space, inodes, stats in systems:
        found |= _file_system(space, inodes, stats or {})
    limits = node.get("rlimit") or {}
    if "maxpid" in limits and "curproc" in limits:
        left = limits["maxpid"] - limits["curproc"]
        found[PID_AVAILABLE] = Observation(left, limits["maxpid"], _time(limits))
    return found


def _memory(node: Mapping[str, Any]) -> Iterator[tuple[str, Observation]]:
    containers: Sequence[Mapping[str, Any]] = node.get("systemContainers") or ()
    pods = next((one for one in containers if one.get("name") == PODS_CONTAINER), {})
    for signal, owner in ((MEMORY_AVAILABLE, node), (ALLOCATABLE_MEMORY, pods)):
        memory = owner.get("memory") or {}
        if "availableBytes" in memory and "workingSetBytes" in memory:
            available = memory["availableBytes"]
            yield signal, Observation(available, available + memory["workingSetBytes"], _time(memory))


def _file_system(space: str, inodes: str, stats: Mapping[str, Any]) -> Iterator[tuple[str, Observation]]:
    if "availableBytes" in stats and "capacityBytes" in stats:
        yield space, Observation(stats["availableBytes"], stats["capacityBytes"], _time(stats))
    if "inodesFree" in stats and "inodes" in stats:
        yield inodes, Observation(stats["inodesFree"], stats["inodes"], _time(stats))


def _time(stats: Mapping[str, Any]) -> float:
    text = stats.get("time")
    return parse_time(text).timestamp() if text else 0.0


def memory_used(stats: Object) -> int:
    """Return the working set of a pod."""
    return int((stats.get("memory") or {}).get("workingSetBytes", 0))


def processes(stats: Object) -> int:
    """Return how many processes a pod has."""
    return int((stats.get("process_stats") or {}).get("process_count", 0))


def disk_used(pod: Object, stats: Object, kinds: Collection[FsStats], resource: str) -> int:
    """Return the bytes (``ephemeral-storage``) or inodes that a pod's files take."""
    member = "inodesUsed" if resource == "inodes" else "usedBytes"
    total = 0
    for container in stats.get("containers") or ():
        if FsStats.ROOT in kinds:
            total += _amount(container.get("rootfs"), member)
        if FsStats.LOGS in kinds:
            total += _amount(container.get("logs"), member)
    if FsStats.LOCAL_VOLUMES in kinds:
        local = {volume["name"] for volume in pod["spec"].get("volumes") or () if _is_local(volume)}
        total += sum(_amount(row, member) for row in stats.get("volume") or () if row.get("name") in local)
    return total


def _amount(stats: Mapping[str, Any] | None, member: str) -> int:
    return int((stats or {}).get(member, 0))


def _is_local(volume: Object) -> bool:
    """Tell whether a volume's files are on the node's disk; those of an emptyDir in memory count as memory."""
    empty_dir = volume.get("emptyDir")
    if empty_dir is not None and empty_dir.get("medium") not in {None, ""}:
        return False
    return any(volume.get(kind) is not None for kind in _LOCAL_VOLUMES)
