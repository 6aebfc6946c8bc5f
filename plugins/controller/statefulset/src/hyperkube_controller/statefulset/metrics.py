"""What the controller tells of stateful sets at ``/metrics``: how many pods are unavailable, and how many may be.

Source of names and labels: kubernetes ``pkg/controller/statefulset/metrics/metrics.go``.
"""

from __future__ import annotations

from hyperkube_lib.controller_metrics import ControllerMetrics

from hyperkube.machinery.metric_families import Gauge
from hyperkube.machinery.objects import Object, name_of, namespace_of

_PREFIX = "statefulset_controller_statefulset_"
_LABELS = ("statefulset_namespace", "statefulset_name", "pod_management_policy")


class StatefulSetMetrics(ControllerMetrics):
    """Numbers of the stateful sets whose updates obey ``maxUnavailable``; thread-safe."""

    def __init__(self) -> None:
        self._most = Gauge(f"{_PREFIX}max_unavailable", "Number of pods that an update may make unavailable", _LABELS)
        self._now = Gauge(f"{_PREFIX}unavailable_replicas", "Number of pods that are missing or unavailable", _LABELS)
        super().__init__(self._most, self._now)

    def measured(self, stateful_set: Object, *, most: int, unavailable: int) -> None:
        """Note what a sync of a rolling update found."""
        policy = (stateful_set.get("spec") or {}).get("podManagementPolicy") or "OrderedReady"
        labels = (namespace_of(stateful_set), name_of(stateful_set), policy)
        self.set(self._most, most, labels)
        self.set(self._now, unavailable, labels)

    def gone(self, namespace: str, name: str) -> None:
        """Forget a stateful set."""
        for gauge in (self._most, self._now):
            self.remove(gauge, namespace, name)
