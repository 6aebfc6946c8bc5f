"""``/metrics/resource``: what metrics-server reads of the node, its pods and containers.

Source: kubernetes ``pkg/kubelet/metrics/collectors/resource_metrics.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hyperkube_host.kubelet.metrics.text_format import Sample, family
from hyperkube_host.kubelet.stats.container_figures import NANO, ContainerFigures
from hyperkube_host.kubelet.stats.machine import MachineUse
from hyperkube_host.kubelet.stats.summary_provider import Member

from hyperkube.hookspecs.runtime import ContainerStatus, SandboxStatus

_CORES = "[STABLE] Cumulative cpu time consumed by the {} in core-seconds"
_MEMORY = "[STABLE] Current working set of the {} in bytes"
Running = Sequence[tuple[SandboxStatus, Sequence[Member]]]


def resource_metrics(use: MachineUse, running: Running) -> str:
    """Return the page."""
    members = [(sandbox, status, figures) for sandbox, found in running for status, figures in found]
    working_set = use.memory_total - use.memory_available
    return "".join(
        [
            family("container_cpu_usage_seconds_total", "counter", _CORES.format("container"), _cpu(members)),
            family("container_memory_working_set_bytes", "gauge", _MEMORY.format("container"), _memory(members)),
            family(
                "container_start_time_seconds",
                "gauge",
                "[STABLE] Start time of the container since unix epoch in seconds",
                (Sample(_of_container(s, c), c.started_at or c.created_at) for s, c, _ in members),
            ),
            family(
                "container_swap_usage_bytes",
                "gauge",
                "[ALPHA] Current amount of the container swap usage in bytes. Reported only on non-windows systems",
                (Sample(_of_container(s, c), f.swap_usage, f.time) for s, c, f in members if f.swap_usage is not None),
            ),
            family("node_cpu_usage_seconds_total", "counter", _CORES.format("node"), [Sample({}, use.cpu / NANO)]),
            family("node_memory_working_set_bytes", "gauge", _MEMORY.format("node"), [Sample({}, working_set)]),
            family(
                "pod_cpu_usage_seconds_total",
                "counter",
                _CORES.format("pod"),
                (Sample(_of_pod(s), sum(f.cpu for _, f in found) / NANO) for s, found in running),
            ),
            family(
                "pod_memory_working_set_bytes",
                "gauge",
                _MEMORY.format("pod"),
                (Sample(_of_pod(s), sum(f.working_set for _, f in found)) for s, found in running),
            ),
            family(
                "resource_scrape_error",
                "gauge",
                "[STABLE] 1 if there was an error while getting container metrics, 0 otherwise",
                [Sample({}, 0)],
            ),
        ]
    )


def failed_scrape() -> str:
    """Return the page of a node whose runtime does not tell."""
    text = "[STABLE] 1 if there was an error while getting container metrics, 0 otherwise"
    return family("resource_scrape_error", "gauge", text, [Sample({}, 1)])


def _of_container(sandbox: SandboxStatus, status: ContainerStatus) -> dict[str, str]:
    return {"container": status.name, **_of_pod(sandbox)}


def _of_pod(sandbox: SandboxStatus) -> dict[str, str]:
    return {"namespace": sandbox.namespace, "pod": sandbox.name}


_Row = tuple[SandboxStatus, ContainerStatus, ContainerFigures]


def _cpu(members: Iterable[_Row]) -> Iterator[Sample]:
    for sandbox, status, figures in members:
        yield Sample(_of_container(sandbox, status), figures.cpu / NANO, figures.time)


def _memory(members: Iterable[_Row]) -> Iterator[Sample]:
    for sandbox, status, figures in members:
        yield Sample(_of_container(sandbox, status), figures.working_set, figures.time)
