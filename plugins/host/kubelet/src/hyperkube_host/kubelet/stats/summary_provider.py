"""Puts together what ``/stats/summary`` says: the node, its file systems, and each pod with its containers and files.

Sources: kubernetes ``pkg/kubelet/server/stats/summary.go``, ``pkg/kubelet/stats/cri_stats_provider.go``,
``staging/src/k8s.io/kubelet/pkg/apis/stats/v1alpha1/types.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.stats.container_figures import PODS_CONTAINER, ContainerFigures, container_figures
from hyperkube_host.kubelet.stats.file_systems import disk_usage, fs_info
from hyperkube_host.kubelet.stats.machine import machine_use, process_limits
from hyperkube_host.kubelet.stats.volume_stats import PERIOD_SECONDS, OfVolume, VolumeStats
from hyperkube_host.kubelet.types.cgroup_use import SYSTEM_CONTAINERS, CgroupUse

from hyperkube.hookspecs.runtime import ContainerStatus, ReportsStats, Runtime, RuntimeFailed, SandboxStatus
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object, uid_of
from hyperkube.machinery.times import format_time

Member = tuple[ContainerStatus, ContainerFigures]
SHORTEST_SECONDS = 1.0
_EPHEMERAL = ("emptyDir", "configMap", "gitRepo")


class SummaryProvider:
    """Measures on demand; rates are over the time since the measurement before, or since the start. Thread-safe."""

    def __init__(
        self,
        runtime: Runtime,
        clock: Clock,
        node_name: str,
        directories: KubeletDirectories,
        pods: Callable[[], Iterable[Object]],
        allocatable_memory: Callable[[], int] = lambda: 0,
        of_volume: OfVolume = lambda _uid, _path: None,
        system_use: Callable[[], Mapping[str, CgroupUse]] = dict,
        volume_seconds: float = PERIOD_SECONDS,
    ) -> None:
        """Take what is measured.

        Args:
            runtime: has the containers.
            clock: for times and rates.
            node_name: the node's name.
            directories: the kubelet's folders, on the file system that counts as the node's.
            pods: returns the pods of the node, whose volumes are measured.
            allocatable_memory: returns how much memory all pods together may use; 0 when that is not limited.
            of_volume: returns how full a volume is that is more than a folder, see `VolumeStats`.
            system_use: returns what processes that are no pods use, by the name of their group.
            volume_seconds: how long the figures of a volume are good; 0 or less for not measuring any.
        """
        self._runtime = runtime
        self._clock = clock
        self._node_name = node_name
        self._directories = directories
        self._pods = pods
        self._allocatable_memory = allocatable_memory
        self._system_use = system_use
        self._volumes = VolumeStats(directories, clock, of_volume, volume_seconds)
        self._lock = threading.Lock()
        self._before: dict[str, tuple[float, int, int]] = {}

    # figures

    def running(self) -> Iterator[tuple[SandboxStatus, list[Member]]]:
        """Yield the ready sandboxes with their running containers.

        Raises:
            RuntimeFailed: the runtime does not tell.
        """
        figures = container_figures(self._runtime)
        members: dict[str, list[Member]] = {}
        for status in self._runtime.containers():
            if status.id in figures:
                members.setdefault(status.sandbox_id, []).append((status, figures[status.id]))
        for sandbox in self._runtime.sandboxes():
            if sandbox.ready:
                yield sandbox, members.get(sandbox.id, [])

    def _rate(self, key: str, nanoseconds: int, started_at: float) -> int:
        """Return the nano-cores used since the last measurement of `key`; since its start, the first time.

        Several ask for the summary, on their own schedules: within a second the same rate is good for all, as too
        short a time says nothing.
        """
        now = self._clock.monotonic()
        started = now - max(0.0, self._clock.now().timestamp() - started_at)
        with self._lock:
            known = self._before.get(key)
            if known is not None and now - known[0] < SHORTEST_SECONDS:
                return known[2]
            then, before, _ = known or (started, 0, 0)
            rate = max(0, int((nanoseconds - before) / (now - then))) if now > then else 0
            self._before[key] = (now, nanoseconds, rate)
        return rate

    def _forget(self, kept: set[str]) -> None:
        """Drop the rates of containers and pods that are gone."""
        with self._lock:
            self._before = {key: row for key, row in self._before.items() if key in kept}

    def _cpu(self, key: str, nanoseconds: int, started_at: float, time: str) -> Object:
        rate = self._rate(key, nanoseconds, started_at)
        return {"time": time, "usageNanoCores": rate, "usageCoreNanoSeconds": nanoseconds}

    # the summary

    def summary(self) -> Object:
        """Return the whole summary.

        Raises:
            RuntimeFailed: the runtime does not tell.
        """
        found = list(self.running())
        by_uid = {str(uid_of(pod)): pod for pod in self._pods()}
        self._volumes.keep(by_uid.keys())
        self._forget(
            {"node", *SYSTEM_CONTAINERS, *by_uid, *(status.id for _, members in found for status, _ in members)}
        )
        pods = [self._pod(sandbox, members, by_uid.get(sandbox.uid)) for sandbox, members in found]
        node = self._node()
        used = sum((row["memory"] or {}).get("workingSetBytes", 0) for row in pods)
        limit = self._allocatable_memory()
        rows = [self._system(name, use, node["startTime"]) for name, use in self._system_use().items()]
        if limit:
            memory = {"time": node["memory"]["time"], "workingSetBytes": used, "availableBytes": max(0, limit - used)}
            rows.append({"name": PODS_CONTAINER, "startTime": node["startTime"], "memory": memory})
        if rows:
            node["systemContainers"] = rows
        return {"node": node, "pods": pods}

    def _system(self, name: str, use: CgroupUse, started: str) -> Object:
        time = format_time(self._clock.now())
        return {
            "name": name,
            "startTime": started,
            "cpu": self._cpu(name, use.cpu, self._clock.now().timestamp(), time),
            "memory": {"time": time, "usageBytes": use.memory, "workingSetBytes": use.working_set},
        }

    def node_summary(self) -> Object:
        """Return the summary without the pods: what the node's conditions need."""
        return {"node": self._node(), "pods": []}

    def _node(self) -> Object:
        use, time = machine_use(), format_time(self._clock.now())
        working_set = use.memory_total - use.memory_available
        node: Object = {
            "nodeName": self._node_name,
            "startTime": _moment(use.booted),
            "cpu": self._cpu("node", use.cpu, use.booted, time),
            "memory": {
                "time": time,
                "availableBytes": use.memory_available,
                "usageBytes": working_set,
                "workingSetBytes": working_set,
                "rssBytes": working_set,
            },
        }
        root = fs_info(self._directories.root)
        if root:
            node["fs"] = {"time": time, **root}
            image_fs, container_fs = self.image_fs()
            node["runtime"] = {"imageFs": {"time": time, **image_fs}, "containerFs": {"time": time, **container_fs}}
        limits = process_limits()
        if limits:
            node["rlimit"] = {"time": time, **limits}
        return node

    def image_fs(self) -> tuple[Object, Object]:
        """Return the file systems of images and of containers' layers: the node's own where the runtime tells none."""
        root = self._directories.root
        if not isinstance(self._runtime, ReportsStats):
            used = sum(image.size for image in self._runtime.images())
            own = {**fs_info(root), "usedBytes": used}
            return own, own
        try:
            told = self._runtime.image_fs_info()
        except RuntimeFailed:
            return fs_info(root), fs_info(root)
        images = _file_system(told.get("image_filesystems") or (), root)
        return images, _file_system(told.get("container_filesystems") or (), root) or images

    def has_image_fs(self) -> bool:
        """Tell whether images are on another file system than the kubelet's folder."""
        if not isinstance(self._runtime, ReportsStats):
            return False
        try:
            rows = self._runtime.image_fs_info().get("image_filesystems") or ()
            paths = [Path(row["fs_id"]["mountpoint"]) for row in rows if (row.get("fs_id") or {}).get("mountpoint")]
            return any(path.stat().st_dev != self._directories.root.stat().st_dev for path in paths)
        except (RuntimeFailed, OSError):
            return False

    def _pod(self, sandbox: SandboxStatus, members: Sequence[Member], pod: Object | None) -> Object:
        time = format_time(self._clock.now())
        containers = [self._container(sandbox, status, figures, time) for status, figures in members]
        volumes = [] if pod is None else self._volumes.of(pod)
        cpu = sum(figures.cpu for _, figures in members)
        memory = sum(figures.working_set for _, figures in members)
        ephemeral = {volume["name"] for volume in _volumes_of(pod) if any(kind in volume for kind in _EPHEMERAL)}
        parts: list[Mapping[str, Any]] = [row.get(kind) or {} for row in containers for kind in ("rootfs", "logs")]
        parts += [row for row in volumes if row["name"] in ephemeral]
        return {
            "podRef": {"name": sandbox.name, "namespace": sandbox.namespace, "uid": sandbox.uid},
            "startTime": _moment(sandbox.created_at),
            "containers": containers,
            "cpu": self._cpu(sandbox.uid, cpu, sandbox.created_at, time),
            "memory": {"time": time, "usageBytes": memory, "workingSetBytes": memory, "rssBytes": memory},
            **({"volume": volumes} if volumes else {}),
            "ephemeral-storage": {
                "time": time,
                **{
                    member: value
                    for member, value in fs_info(self._directories.root).items()
                    if member not in {"usedBytes", "inodesUsed"}
                },
                "usedBytes": sum(part.get("usedBytes", 0) for part in parts),
                "inodesUsed": sum(part.get("inodesUsed", 0) for part in parts),
            },
        }

    def _container(
        self, sandbox: SandboxStatus, status: ContainerStatus, figures: ContainerFigures, now: str
    ) -> Object:
        time = _moment(figures.time) if figures.time else now
        memory = {
            "time": time,
            "usageBytes": figures.memory_usage,
            "workingSetBytes": figures.working_set,
            "rssBytes": figures.working_set if figures.rss is None else figures.rss,
            "pageFaults": figures.page_faults,
            "majorPageFaults": figures.major_page_faults,
        }
        logs = self._directories.pod_logs(sandbox.namespace, sandbox.name, sandbox.uid) / status.name
        row: Object = {
            "name": status.name,
            "startTime": _moment(status.started_at or status.created_at),
            "cpu": self._cpu(status.id, figures.cpu, status.started_at or status.created_at, time),
            "memory": {member: value for member, value in memory.items() if value is not None},
            "logs": {"time": time, **_used(*_folder(logs))},
        }
        if figures.root_bytes is not None:
            row["rootfs"] = {"time": time, **_used(figures.root_bytes, figures.root_inodes or 0)}
        if figures.swap_usage is not None:
            row["swap"] = {"time": time, "swapUsageBytes": figures.swap_usage}
        return row


def _file_system(rows: Iterable[Mapping[str, Any]], root: Path) -> Object:
    """Return the first file system of a runtime's answer; that of `root` when its path is not to be seen here."""
    for row in rows:
        path = Path((row.get("fs_id") or {}).get("mountpoint") or root)
        used = int((row.get("used_bytes") or {}).get("value") or 0)
        inodes = int((row.get("inodes_used") or {}).get("value") or 0)
        return {**(fs_info(path) or fs_info(root)), "usedBytes": used, "inodesUsed": inodes}
    return {}


def _folder(path: Path) -> tuple[int, int]:
    return disk_usage(path) if path.is_dir() else (0, 0)


def _used(used: int, inodes: int) -> Object:
    return {"usedBytes": used, "inodesUsed": inodes}


def _volumes_of(pod: Object | None) -> Sequence[Object]:
    return [] if pod is None else pod["spec"].get("volumes") or []


def _moment(seconds: float) -> str:
    return format_time(datetime.fromtimestamp(seconds, UTC))
