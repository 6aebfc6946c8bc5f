"""What containers use, asked of Docker for each; the sizes of their layers, which are costly, more rarely.

Docker measures all containers that anyone asks about once a second, and answers then, also to who wants the figures of
now alone. So all are asked about at once: one after another they would take a second each, longer than a scrape may.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hyperkube_runtime.docker import stats
from hyperkube_runtime.docker.engine import Engine, EngineFailed
from hyperkube_runtime.docker.images import DockerImages
from hyperkube_runtime.docker.names import CONTAINER_TYPE, TYPE_LABEL

from hyperkube.hookspecs.runtime import (
    Config,
    ContainerState,
    ContainerStatus,
    ContainerUsage,
    RuntimeFailed,
    SandboxStatus,
)
from hyperkube.machinery.clock import Clock

SIZES_SECONDS = 60.0
AT_ONCE = 128
"""Containers that are asked about at a time: those of a full node."""


class DockerFigures:
    """The figures of a daemon's containers, sandboxes and file systems."""

    def __init__(self, engine: Engine, images: DockerImages, clock: Clock, docker_root: Callable[[], str]) -> None:
        self._engine = engine
        self._images = images
        self._clock = clock
        self._docker_root = docker_root
        self._lock = threading.Lock()
        self._sizes: Mapping[str, int] = {}
        self._sized_at: float | None = None

    def of_containers(self, statuses: Sequence[ContainerStatus]) -> list[dict[str, Any]]:
        """Return the ``ContainerStats`` of those that run; what ends meanwhile is left out."""
        running = [status for status in statuses if status.state == ContainerState.RUNNING]
        sizes = self._writable_sizes() if running else {}
        root = self._docker_root()
        rows = zip(running, self._all_told([status.id for status in running]), strict=True)
        return [stats.container_stats(status, told, sizes.get(status.id, 0), root) for status, told in rows if told]

    def of_sandboxes(
        self, sandboxes: Sequence[SandboxStatus], statuses: Sequence[ContainerStatus]
    ) -> list[dict[str, Any]]:
        """Return the ``PodSandboxStats`` of those that are ready."""
        members = stats.by_sandbox(statuses, self.of_containers(statuses))
        ready = [sandbox for sandbox in sandboxes if sandbox.ready]
        rows = zip(ready, self._all_told([sandbox.id for sandbox in ready]), strict=True)
        return [stats.sandbox_stats(sandbox, told, members.get(sandbox.id, [])) for sandbox, told in rows if told]

    def usage(self, statuses: Sequence[ContainerStatus]) -> list[ContainerUsage]:
        """Return CPU and memory of those that run."""
        return [
            ContainerUsage(
                id=one["attributes"]["id"],
                cpu_nanoseconds=stats.figure(one, "cpu", "usage_core_nano_seconds"),
                memory_bytes=stats.figure(one, "memory", "working_set_bytes"),
            )
            for one in self.of_containers(statuses)
        ]

    def image_fs_info(self) -> Config:
        """Return the ``ImageFsInfoResponse``."""
        return stats.image_fs_info(self._docker_root(), self._images.image_bytes(), self._clock.now())

    def _all_told(self, container_ids: Sequence[str]) -> list[Mapping[str, Any]]:
        """Return Docker's answer about each container, in their order."""
        if len(container_ids) <= 1:
            return [self._told(container_id) for container_id in container_ids]
        with ThreadPoolExecutor(min(len(container_ids), AT_ONCE), thread_name_prefix="docker-stats") as pool:
            return list(pool.map(self._told, container_ids))

    def _told(self, container_id: str) -> Mapping[str, Any]:
        try:
            return self._engine.stats(container_id)
        except EngineFailed as error:
            if error.is_not_found:
                return {}
            raise RuntimeFailed(str(error)) from error

    def _writable_sizes(self) -> Mapping[str, int]:
        """Return container id → what it wrote into its layer, which Docker finds out by walking through it."""
        with self._lock:
            now = self._clock.monotonic()
            if self._sized_at is None or now - self._sized_at >= SIZES_SECONDS:
                try:
                    rows = self._engine.containers({TYPE_LABEL: CONTAINER_TYPE}, sizes=True)
                except EngineFailed as error:
                    raise RuntimeFailed(str(error)) from error
                self._sizes = {row["Id"]: int(row.get("SizeRw") or 0) for row in rows}
                self._sized_at = now
            return self._sizes
