"""What the controller tells of evictions at ``/metrics``.

Source: kubernetes ``pkg/controller/devicetainteviction/metrics/metrics.go``.
"""

from __future__ import annotations

from hyperkube_lib.controller_metrics import ControllerMetrics

from hyperkube.machinery.metric_families import Counter, Histogram

PREFIX = "device_taint_eviction_controller_"
_BUCKETS = (0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10.0, 30.0, 60.0, 120.0, 180.0, 240.0)


class EvictionMetrics(ControllerMetrics):
    """How many pods were deleted, and how late; thread-safe."""

    def __init__(self) -> None:
        self._deletions = Counter(
            f"{PREFIX}pod_deletions_total",
            "Total number of Pods deleted by DeviceTaintEvictionController since its start.",
        )
        self._latency = Histogram(
            f"{PREFIX}pod_deletion_duration_seconds",
            "Latency, in seconds, between the time when a device taint effect has been activated and a Pod's deletion "
            "via DeviceTaintEvictionController.",
            _BUCKETS,
        )
        super().__init__(self._deletions, self._latency)

    def deleted(self, seconds: float) -> None:
        """Count a pod that was deleted so many seconds after it was due."""
        self.add(self._deletions)
        self.observe(self._latency, seconds)
