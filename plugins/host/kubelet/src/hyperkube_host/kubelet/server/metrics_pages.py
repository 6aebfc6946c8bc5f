"""The pages below ``/metrics``. Source: kubernetes ``pkg/kubelet/server/server.go`` (InstallDefaultHandlers)."""

from __future__ import annotations

from hyperkube_host.kubelet.metrics.resource_metrics import failed_scrape, resource_metrics
from hyperkube_host.kubelet.server.server_context import ServerContext
from hyperkube_host.kubelet.stats.machine import machine_use
from hyperkube_lib.serving.component_metrics import process_text

from hyperkube.hookspecs.runtime import RuntimeFailed
from hyperkube.machinery.clock import Clock

METRICS, RESOURCE, CADVISOR, PROBES = "/metrics", "/metrics/resource", "/metrics/cadvisor", "/metrics/probes"
METRICS_PATHS = frozenset({METRICS, RESOURCE, CADVISOR, PROBES})


class MetricsPages:
    """Writes the pages, measured when they are asked for."""

    def __init__(self, context: ServerContext, clock: Clock) -> None:
        self._context = context
        self._clock = clock

    def page(self, path: str) -> str:
        """Return the page of one of `METRICS_PATHS`."""
        summary = self._context.summary
        if path == RESOURCE:
            try:
                return resource_metrics(machine_use(), list(summary.running()))
            except RuntimeFailed:
                return failed_scrape()
        if path == PROBES:
            from hyperkube_host.kubelet.metrics.probe_metrics import probe_metrics

            return probe_metrics(self._context.probes())
        if path == CADVISOR:
            from hyperkube_host.kubelet.metrics.cadvisor_metrics import cadvisor_metrics

            return cadvisor_metrics(machine_use(), list(summary.running()), self._clock.now().timestamp())
        return self._own()

    def _own(self) -> str:
        from hyperkube_host.kubelet.metrics.kubelet_metrics import (
            container_manager_metrics,
            kubelet_metrics,
            lifecycle_metrics,
            pod_certificate_metrics,
            shutdown_metrics,
            volume_metrics,
        )

        context = self._context
        entries = context.pods.entries()
        pods = [entry.pod for entry in entries]
        claims = any(volume.get("persistentVolumeClaim") for pod in pods for volume in pod["spec"].get("volumes") or ())
        own = kubelet_metrics(
            context.runtime,
            context.options.node.name,
            len(entries),
            sum(entry.is_active for entry in entries),
            context.evictions(),
        )
        own += shutdown_metrics(*context.shutdown_times()) + container_manager_metrics(context.container_manager())
        own += lifecycle_metrics(context.http_fallbacks())
        own += pod_certificate_metrics(context.pod_certificates())
        # Volumes are measured for this page only where there are claims: that means to look at each of their files.
        return own + (volume_metrics(context.summary.summary(), pods) if claims else "") + process_text()
