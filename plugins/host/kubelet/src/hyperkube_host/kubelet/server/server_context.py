"""What the kubelet's API shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hyperkube_host.kubelet.options import KubeletOptions
from hyperkube_host.kubelet.pod.pod_manager import PodManager
from hyperkube_host.kubelet.prober.worker import ProbeWorker
from hyperkube_host.kubelet.stats.summary_provider import SummaryProvider

from hyperkube.hookspecs.runtime import Runtime


class ServerContext(NamedTuple):
    """The parts of the kubelet that its API serves from.

    Attributes:
        logs: the folder that ``/logs/`` shows.
        summary: measures what the node and its pods use.
        probes: returns the probes of all containers.
        evictions: signal → pods that were evicted for it.
        shutdown_times: returns when the last graceful shutdown of the node began and ended; 0 for never.
        container_manager: returns metric → value of the container manager.
        pod_certificates: returns (signer, state) → sources of projected volumes.
        http_fallbacks: returns how many lifecycle hooks fell back from HTTPS to HTTP.
    """

    options: KubeletOptions
    runtime: Runtime
    pods: PodManager
    logs: Path
    summary: SummaryProvider
    probes: Callable[[], Sequence[ProbeWorker]]
    evictions: Callable[[], Mapping[str, int]]
    shutdown_times: Callable[[], tuple[float, float]] = lambda: (0.0, 0.0)
    container_manager: Callable[[], Mapping[str, int]] = dict
    pod_certificates: Callable[[], Mapping[tuple[str, str], int]] = dict
    http_fallbacks: Callable[[], int] = int
