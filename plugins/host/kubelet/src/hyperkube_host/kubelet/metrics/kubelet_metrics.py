"""``/metrics``: what the kubelet tells of itself. Source: kubernetes ``pkg/kubelet/metrics/metrics.go``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from hyperkube_host.kubelet.metrics.text_format import Sample, family

from hyperkube.hookspecs.runtime import Runtime
from hyperkube.machinery.objects import Object, uid_of

_VOLUME = (
    ("kubelet_volume_stats_available_bytes", "Number of available bytes in the volume", "availableBytes"),
    ("kubelet_volume_stats_capacity_bytes", "Capacity in bytes of the volume", "capacityBytes"),
    ("kubelet_volume_stats_inodes", "Maximum number of inodes in the volume", "inodes"),
    ("kubelet_volume_stats_inodes_free", "Number of free inodes in the volume", "inodesFree"),
    ("kubelet_volume_stats_inodes_used", "Number of used inodes in the volume", "inodesUsed"),
    ("kubelet_volume_stats_used_bytes", "Number of used bytes in the volume", "usedBytes"),
)
"""Gauge, help, and the member of a volume's row in the summary."""


def kubelet_metrics(runtime: Runtime, node_name: str, desired: int, active: int, evictions: Mapping[str, int]) -> str:
    """Return the page's own part.

    Args:
        runtime: its sandboxes and containers are counted.
        node_name: the node's name.
        desired: how many pods the sources want.
        active: how many of them run or will.
        evictions: signal → pods that were evicted for it.
    """
    states = Counter(str(status.state) for status in runtime.containers())
    pods = sum(sandbox.ready for sandbox in runtime.sandboxes())
    stages = ((f"[ALPHA] The number of pods the kubelet {what}", name, number)
              for what, name, number in (("is being instructed to run", "kubelet_desired_pods", desired),
                                         ("considers active", "kubelet_active_pods", active)))  # fmt: skip
    return "".join(
        [
            family("kubelet_node_name", "gauge", "[ALPHA] The node's name. The count is always 1.",
                   [Sample({"node": node_name}, 1)]),
            family("kubelet_running_pods", "gauge", "[BETA] Number of pods that have a running pod sandbox",
                   [Sample({}, pods)]),
            family("kubelet_running_containers", "gauge", "[BETA] Number of containers currently running",
                   (Sample({"container_state": state}, n) for state, n in sorted(states.items()))),
            *(family(name, "gauge", text, [Sample({}, number)]) for text, name, number in stages),
            family("kubelet_evictions", "counter", "[BETA] Cumulative number of pod evictions by eviction signal",
                   (Sample({"eviction_signal": signal}, n) for signal, n in sorted(evictions.items()))),
        ]
    )  # fmt: skip


_OF_CONTAINER_MANAGER = {
    "kubelet_cpu_manager_pinning_requests_total": "The number of cpu core allocations which required pinning.",
    "kubelet_cpu_manager_pinning_errors_total": "The number of cpu core allocations which required pinning failed.",
    "kubelet_cpu_manager_shared_pool_size_millicores": (
        "The size of the shared CPU pool for non-guaranteed QoS pods, in millicores."
    ),
    "kubelet_cpu_manager_exclusive_cpu_allocation_count": (
        "The total number of CPUs exclusively allocated to containers running on this node"
    ),
    "kubelet_memory_manager_pinning_requests_total": ("The number of memory pages allocations which required pinning."),
    "kubelet_memory_manager_pinning_errors_total": (
        "The number of memory pages allocations which required pinning that failed."
    ),
    "kubelet_topology_manager_admission_requests_total": (
        "The number of admission requests where resources have to be aligned."
    ),
    "kubelet_topology_manager_admission_errors_total": (
        "The number of admission request failures where resources could not be aligned."
    ),
}


def container_manager_metrics(figures: Mapping[str, int]) -> str:
    """Return how often CPUs, memory and whole pods were given what they are to have alone, or near one another."""
    return "".join(
        family(name, "counter" if name.endswith("_total") else "gauge", f"[ALPHA] {text}", [Sample({}, figures[name])])
        for name, text in _OF_CONTAINER_MANAGER.items()
        if name in figures
    )


def lifecycle_metrics(http_fallbacks: int) -> str:
    """Return how many lifecycle hooks fell back from HTTPS to HTTP."""
    text = "[ALPHA] The number of times lifecycle handlers successfully fell back to http from https."
    return family("kubelet_lifecycle_handler_http_fallbacks_total", "counter", text, [Sample({}, http_fallbacks)])


def shutdown_metrics(began: float, ended: float) -> str:
    """Return when the last graceful shutdown of the node began and ended, in seconds since the epoch; 0 for never."""
    return "".join(
        family(f"kubelet_graceful_shutdown_{what}_time_seconds", "gauge",
               f"[ALPHA] Last graceful shutdown {what} time since unix epoch in seconds", [Sample({}, moment)])
        for what, moment in (("start", began), ("end", ended))
    )  # fmt: skip


def pod_certificate_metrics(states: Mapping[tuple[str, str], int]) -> str:
    """Return how many sources of projected volumes have a certificate of a signer, or wait for one."""
    text = (
        "[ALPHA] Gauge vector reporting the number of pod certificate projected volume sources, "
        "faceted by signer_name and state."
    )
    samples = (Sample({"signer_name": signer, "state": state}, n) for (signer, state), n in sorted(states.items()))
    return family("kubelet_podcertificate_states", "gauge", text, samples)


def volume_metrics(summary: Object, pods: Iterable[Object]) -> str:
    """Return how full the volumes of claims are."""
    rows = list(_claim_rows(summary, pods))
    return "".join(
        family(name, "gauge", f"[ALPHA] {text}", (Sample(labels, row[member]) for labels, row in rows if member in row))
        for name, text, member in _VOLUME
    )


def _claim_rows(summary: Object, pods: Iterable[Object]) -> Iterator[tuple[dict[str, str], Object]]:
    known = {str(uid_of(pod)) for pod in pods}
    for pod in summary.get("pods") or ():
        for row in pod.get("volume") or ():
            claim = row.get("pvcRef")
            if claim is not None and pod["podRef"]["uid"] in known:
                yield {"namespace": claim["namespace"], "persistentvolumeclaim": claim["name"]}, row
