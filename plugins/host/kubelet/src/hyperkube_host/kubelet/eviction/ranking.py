"""In which order pods have to go: those that use more than they asked for, then by priority, then by how much more.

Source: kubernetes ``pkg/kubelet/eviction/helpers.go`` (rankMemoryPressure, rankDiskPressureFunc, rankPIDPressure,
buildSignalToRankFunc).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from hyperkube_host.kubelet.eviction.usage import FsStats, disk_used, memory_used, processes
from hyperkube_host.kubelet.thresholds import (
    CONTAINER_FS,
    CONTAINER_INODES,
    IMAGE_FS,
    IMAGE_INODES,
    PID_AVAILABLE,
    RESOURCE_OF,
)

from hyperkube.kinds.pods import pod_requests, priority_of
from hyperkube.machinery.objects import Object, uid_of

PodStats = Mapping[str, Object]
"""Pod uid → its part of the summary."""
_Key = tuple[bool, bool, int, int]
_ALL_FILES = frozenset(FsStats)
_NODE_FILES, _IMAGE_FILES = frozenset({FsStats.LOGS, FsStats.LOCAL_VOLUMES}), frozenset({FsStats.ROOT})
_IMAGE_SIGNALS = {IMAGE_FS, IMAGE_INODES}
_CONTAINER_SIGNALS = {CONTAINER_FS, CONTAINER_INODES}


def rank(
    pods: Iterable[Object], stats: PodStats, signal: str, *, has_image_fs: bool, is_split: bool = False
) -> list[Object]:
    """Return the pods, the first to go first; a pod of which nothing is known goes before all others.

    Args:
        pods: those that run.
        stats: what they use.
        signal: of the threshold that is met.
        has_image_fs: whether images have a file system of their own.
        is_split: whether the containers' layers are not in that one.
    """
    resource = RESOURCE_OF[signal]
    if signal == PID_AVAILABLE:
        return sorted(pods, key=lambda pod: _by_processes(pod, stats))
    if resource == "memory":
        return sorted(pods, key=_by_excess(stats, "memory", lambda _pod, found: memory_used(found)))
    kinds = files_of(signal, has_image_fs=has_image_fs, is_split=is_split)
    return sorted(pods, key=_by_excess(stats, resource, lambda pod, found: disk_used(pod, found, kinds, resource)))


def files_of(signal: str, *, has_image_fs: bool, is_split: bool) -> Collection[FsStats]:
    """Return the files of pods that are on the file system of a signal."""
    if not has_image_fs:
        return _ALL_FILES
    if is_split:
        return frozenset() if signal in _IMAGE_SIGNALS else _ALL_FILES
    return _IMAGE_FILES if signal in _IMAGE_SIGNALS | _CONTAINER_SIGNALS else _NODE_FILES


def _by_processes(pod: Object, stats: PodStats) -> tuple[int, bool, int]:
    found = stats.get(uid_of(pod))
    return priority_of(pod), found is not None, -processes(found or {})


def _by_excess(stats: PodStats, resource: str, used: Callable[[Object, Object], int]) -> Callable[[Object], _Key]:
    def key(pod: Object) -> _Key:
        found = stats.get(uid_of(pod))
        if found is None:
            return False, False, priority_of(pod), 0
        excess = used(pod, found) - requested(pod, resource)
        return True, excess <= 0, priority_of(pod), -excess

    return key


def requested(pod: Object, resource: str) -> int:
    """Return what a pod asks for; nothing asks for inodes."""
    amount = pod_requests(pod).get(resource)
    return amount.value() if amount is not None else 0
