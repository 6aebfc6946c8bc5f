"""``/metrics/cadvisor``: the machine and its containers by the names that cAdvisor gave them.

Source: cadvisor ``metrics/prometheus.go``, kubernetes ``pkg/kubelet/server/server.go`` (containerPrometheusLabelsFunc).
"""

from __future__ import annotations

import os

from hyperkube_host.kubelet.metrics.resource_metrics import Running
from hyperkube_host.kubelet.metrics.text_format import Sample, family
from hyperkube_host.kubelet.stats.container_figures import NANO, ContainerFigures
from hyperkube_host.kubelet.stats.machine import MachineUse

from hyperkube.hookspecs.runtime import ContainerStatus, SandboxStatus

_FIGURES = (
    ("container_memory_working_set_bytes", "Current working set in bytes.", "working_set"),
    ("container_memory_usage_bytes", "Current memory usage in bytes, including all memory.", "memory_usage"),
    ("container_memory_rss", "Size of RSS in bytes.", "rss"),
    ("container_memory_swap", "Container swap usage in bytes.", "swap_usage"),
    (
        "container_fs_usage_bytes",
        "Number of bytes that are consumed by the container on this filesystem.",
        "root_bytes",
    ),
    ("container_fs_inodes_total", "Number of Inodes", "root_inodes"),
)
"""Gauge, help, and the member of `ContainerFigures` that it shows."""


def cadvisor_metrics(use: MachineUse, running: Running, now: float) -> str:
    """Return the page."""
    rows = [(_labels(s, c), c, f) for s, found in running for c, f in found]
    parts = [
        family("machine_cpu_cores", "gauge", "Number of logical CPU cores.", [Sample({}, os.cpu_count() or 1)]),
        family(
            "machine_memory_bytes",
            "gauge",
            "Amount of memory installed on the machine.",
            [Sample({}, use.memory_total)],
        ),
        family(
            "container_cpu_usage_seconds_total",
            "counter",
            "Cumulative cpu time consumed in seconds.",
            (Sample({**labels, "cpu": "total"}, f.cpu / NANO, f.time) for labels, _, f in rows),
        ),
        family(
            "container_start_time_seconds",
            "gauge",
            "Start time of the container since unix epoch in seconds.",
            (Sample(labels, c.started_at or c.created_at) for labels, c, _ in rows),
        ),
        family(
            "container_last_seen",
            "gauge",
            "Last time a container was seen by the exporter",
            (Sample(labels, f.time or now) for labels, _, f in rows),
        ),
    ]
    for name, text, member in _FIGURES:
        parts.append(family(name, "gauge", text, _samples(rows, member)))
    return "".join(parts)


def _samples(rows: list[tuple[dict[str, str], ContainerStatus, ContainerFigures]], member: str) -> list[Sample]:
    return [
        Sample(labels, value, figures.time)
        for labels, _, figures in rows
        if (value := getattr(figures, member)) is not None
    ]


def _labels(sandbox: SandboxStatus, status: ContainerStatus) -> dict[str, str]:
    return {
        "container": status.name,
        "id": f"/{status.id}",
        "image": status.image,
        "name": status.id,
        "namespace": sandbox.namespace,
        "pod": sandbox.name,
    }
