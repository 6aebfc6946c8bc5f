"""What each container uses, from CRI's statistics where the runtime has them, else from its own measurement.

Source: kubernetes ``pkg/kubelet/stats/cri_stats_provider.go``; the fields are those of CRI's ``ContainerStats``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from hyperkube.hookspecs.runtime import Config, ReportsStats, Runtime

NANO = 1_000_000_000
PODS_CONTAINER = "pods"
"""The system container of a summary that all pods are in."""


class ContainerFigures(NamedTuple):
    """What a container uses; what is not told is None.

    Attributes:
        time: when it was measured, in seconds since the epoch; 0 for now.
        cpu: nanoseconds since its start.
        working_set: bytes of memory that cannot be reclaimed.
        root_bytes: what its writable layer takes.
    """

    cpu: int
    working_set: int
    time: float = 0.0
    memory_usage: int | None = None
    rss: int | None = None
    page_faults: int | None = None
    major_page_faults: int | None = None
    swap_usage: int | None = None
    root_bytes: int | None = None
    root_inodes: int | None = None


def container_figures(runtime: Runtime) -> Mapping[str, ContainerFigures]:
    """Return the figures of the running containers by id.

    Raises:
        RuntimeFailed: the runtime does not tell.
    """
    if isinstance(runtime, ReportsStats):
        return {str(row["attributes"]["id"]): of_cri(row) for row in runtime.container_stats() if row.get("attributes")}
    return {
        row.id: ContainerFigures(row.cpu_nanoseconds, row.memory_bytes, memory_usage=row.memory_bytes)
        for row in runtime.usage()
    }


def of_cri(row: Config) -> ContainerFigures:
    """Return the figures of a ``ContainerStats``."""
    cpu, memory, layer = row.get("cpu") or {}, row.get("memory") or {}, row.get("writable_layer") or {}
    return ContainerFigures(
        cpu=_value(cpu, "usage_core_nano_seconds") or 0,
        working_set=_value(memory, "working_set_bytes") or 0,
        time=int(cpu.get("timestamp") or 0) / NANO,
        memory_usage=_value(memory, "usage_bytes"),
        rss=_value(memory, "rss_bytes"),
        page_faults=_value(memory, "page_faults"),
        major_page_faults=_value(memory, "major_page_faults"),
        swap_usage=_value(row.get("swap") or {}, "swap_usage_bytes"),
        root_bytes=_value(layer, "used_bytes"),
        root_inodes=_value(layer, "inodes_used"),
    )


def _value(message: Mapping[str, Any], member: str) -> int | None:
    """Return a ``UInt64Value``, None where it is left out."""
    found = message.get(member)
    return None if found is None else int(found.get("value") or 0)
